#include "kernels/mesh_part.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lano::kernels {
namespace {

using Index = std::int64_t;

constexpr auto at(Index i) { return static_cast<std::size_t>(i); }

std::string as_text(const std::vector<Index>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Index)};
}

std::vector<Index> as_numbers(const std::string& text) {
  std::vector<Index> numbers(text.size() / sizeof(Index));
  if (!text.empty()) std::memcpy(numbers.data(), text.data(), text.size());
  return numbers;
}

}  // namespace

MeshPart::MeshPart(Ranks& ranks, std::span<const Sample> samples, const Partition& partition, bool halo, bool back)
    : ranks_(ranks), samples_(samples), partition_(partition) {
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Index first = partition.first_group[s], count = partition.first_group[s + 1] - first;
    auto& group_shares = group_shares_.emplace_back();
    auto& unit_shares = unit_shares_.emplace_back();
    for (int r = 0; r < ranks.size(); ++r) {
      const Share share = share_of(count, r, ranks.size());
      group_shares.push_back({first + share.first, first + share.last});
      const Index end = partition.first_unit[s + 1];
      const auto unit_of = [&](Index g) {
        return g == partition.first_group[s + 1] ? end : partition.groups[at(g)].first;
      };
      unit_shares.push_back({unit_of(first + share.first), unit_of(first + share.last)});
    }
    const Share own_groups = group_shares[at(ranks.rank())], own_units = unit_shares[at(ranks.rank())];
    for (Index g = own_groups.first; g < own_groups.last; ++g) groups_.push_back(g);
    for (Index u = own_units.first; u < own_units.last; ++u) units_.push_back(u);
  }
  if (whole() || !halo) return;
  const auto plan = [&](bool backwards) {
    std::vector<Ranges> needs;
    for (std::size_t s = 0; s < samples.size(); ++s) needs.push_back(needed(static_cast<Index>(s), backwards));
    return agree(needs);
  };
  ahead_ = plan(false);
  if (back) back_ = plan(true);
}

MeshPart::Ranges MeshPart::own_points(Index sample, int rank) const {
  const Share share = unit_shares_[at(sample)][at(rank)];
  if (share.count() == 0) return {};
  const Unit &first = partition_.units[at(share.first)], &last = partition_.units[at(share.last - 1)];
  return {{first.first, last.first + last.count}};
}

// Points of a sample that this rank reads and does not have, by rising number. Of a mesh whole lines along the first
// axis, which may be more than is read.
MeshPart::Ranges MeshPart::needed(Index sample, bool back) const {
  const Ranges own = own_points(sample, ranks_.rank());
  if (own.empty()) return {};
  const Index begin = own[0].first, end = own[0].last;
  const Sample& s = samples_[at(sample)];
  std::vector<Index> lines;  // that are read
  Index length = 1;          // points of a line
  if (s.neighbours != nullptr) {
    const TapTable& table = back ? s.neighbours->table_back() : s.neighbours->table();
    const auto taps = table.taps();
    if (!table.empty()) {
      for (std::uint32_t e = table.first()[begin * taps]; e < table.first()[end * taps]; ++e)
        lines.push_back(table.entries()[e].row);
    } else {
      for (Index p = begin; p < end; ++p) {
        for (const Neighbours::Entry& entry : s.neighbours->of(p)) lines.push_back(entry.other);
      }
    }
  } else {
    const Geometry& g = *s.geometry;
    if (g.stencil_shape.empty()) return {};
    length = std::accumulate(g.stencil_shape.begin() + 1, g.stencil_shape.end(), Index{1}, std::multiplies<>());
    const Index first = begin / length, last = (end - 1) / length;
    for (Index line = back ? 0 : first; line <= (back ? g.stencil_shape[0] - 1 : last); ++line) {
      const auto taps = g.stencil[0].at(static_cast<double>(line));
      for (const AxisTable::Entry& x : taps.all()) {
        if (!back) {
          lines.push_back(x.other);
        } else if (x.other >= first && x.other <= last) {
          lines.push_back(line);
        }
      }
    }
  }
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  Ranges needed;
  const auto add = [&](Index first, Index last) {
    if (first >= last) return;
    if (!needed.empty() && needed.back().last == first) {
      needed.back().last = last;
    } else {
      needed.push_back({first, last});
    }
  };
  for (const Index line : lines) {
    add(line * length, std::min((line + 1) * length, begin));
    add(std::max(line * length, end), (line + 1) * length);
  }
  return needed;
}

// Every rank says what it needs; what lies with whom all know.
MeshPart::Halo MeshPart::agree(const std::vector<Ranges>& needs) const {
  std::vector<Index> said;
  for (const Ranges& ranges : needs) {
    said.push_back(static_cast<Index>(ranges.size()));
    for (const Range& range : ranges) {
      said.push_back(range.first);
      said.push_back(range.last);
    }
  }
  const std::vector<std::string> all = ranks_.gather(as_text(said));
  Halo halo;
  halo.from.resize(at(ranks_.size()));
  halo.to.resize(at(ranks_.size()));
  for (int reader = 0; reader < ranks_.size(); ++reader) {
    const std::vector<Index> numbers = as_numbers(all[at(reader)]);
    std::size_t next = 0;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      for (Index count = numbers[next++]; count > 0; --count, next += 2) {
        for (int owner = 0; owner < ranks_.size(); ++owner) {
          if (reader != ranks_.rank() && owner != ranks_.rank()) continue;
          for (const Range& own : own_points(static_cast<Index>(s), owner)) {
            const Range part{samples_[s].first + std::max(own.first, numbers[next]),
                             samples_[s].first + std::min(own.last, numbers[next + 1])};
            if (part.first >= part.last) continue;
            if (reader == ranks_.rank()) halo.from[at(owner)].push_back(part);
            if (owner == ranks_.rank()) halo.to[at(reader)].push_back(part);
          }
        }
      }
    }
  }
  return halo;
}

void MeshPart::fetch_halo(float* rows, Index stride, Index width, bool back) const {
  if (whole()) return;
  const Halo& halo = back ? back_ : ahead_;
  const auto floats = [&](const std::vector<Ranges>& of_ranks, std::vector<std::size_t>& counts) {
    std::size_t all = 0;
    for (const Ranges& ranges : of_ranks) {
      Index points = 0;
      for (const Range& range : ranges) points += range.last - range.first;
      counts.push_back(at(points * width));
      all += counts.back();
    }
    return all;
  };
  std::vector<std::size_t> sent, received;
  std::vector<float> pieces(floats(halo.to, sent)), got(floats(halo.from, received));
  float* to = pieces.data();
  for (const Ranges& ranges : halo.to) {
    for (const Range& range : ranges) {
      for (Index p = range.first; p < range.last; ++p) to = std::copy_n(rows + p * stride, width, to);
    }
  }
  ranks_.swap_floats(pieces, sent, got, received);
  const float* from = got.data();
  for (const Ranges& ranges : halo.from) {
    for (const Range& range : ranges) {
      for (Index p = range.first; p < range.last; ++p, from += width) std::copy_n(from, width, rows + p * stride);
    }
  }
}

void MeshPart::share_pieces(std::span<const Index> first_piece, float* rows, Index width) const {
  if (whole()) return;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    std::vector<std::size_t> counts;
    for (const Share& share : unit_shares_[s])
      counts.push_back(at((first_piece[at(share.last)] - first_piece[at(share.first)]) * width));
    const Share own = unit_shares_[s][at(ranks_.rank())];
    float* const begin = rows + first_piece[at(partition_.first_unit[s])] * width;
    const float* const from = rows + first_piece[at(own.first)] * width;
    const std::vector<float> mine(from, from + counts[at(ranks_.rank())]);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    ranks_.gather_floats(mine, counts, {begin, all});
  }
}

void MeshPart::share_units(float* rows, Index stride, Index width) const {
  if (whole()) return;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    std::vector<std::size_t> counts;
    for (const Share& share : unit_shares_[s]) counts.push_back(at(share.count() * width));
    std::vector<float> mine, all(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
    const Share own = unit_shares_[s][at(ranks_.rank())];
    for (Index u = own.first; u < own.last; ++u) mine.insert(mine.end(), rows + u * stride, rows + u * stride + width);
    ranks_.gather_floats(mine, counts, all);
    const float* from = all.data();
    for (Index u = partition_.first_unit[s]; u < partition_.first_unit[s + 1]; ++u, from += width)
      std::copy_n(from, width, rows + u * stride);
  }
}

void MeshPart::share_points(float* rows, Index width) const {
  if (whole()) return;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    std::vector<std::size_t> counts;
    Index first = 0, points = 0;
    for (int r = 0; r < ranks_.size(); ++r) {
      const Ranges own = own_points(static_cast<Index>(s), r);
      const Index count = own.empty() ? 0 : own[0].last - own[0].first;
      counts.push_back(at(count * width));
      if (r == ranks_.rank()) first = points;
      points += count;
    }
    float* const begin = rows + samples_[s].first * width;
    const std::vector<float> mine(begin + first * width, begin + first * width + counts[at(ranks_.rank())]);
    ranks_.gather_floats(mine, counts, {begin, at(points * width)});
  }
}

void MeshPart::sum_groups(float* rows, Index stride, Index width) const {
  if (whole()) return;
  std::vector<float> mine, sum(at(width));
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Share own = group_shares_[s][at(ranks_.rank())];
    mine.clear();
    for (Index g = own.first; g < own.last; ++g) mine.insert(mine.end(), rows + g * stride, rows + g * stride + width);
    ranks_.sum_rows(mine, sum);
    std::copy(sum.begin(), sum.end(), rows + partition_.first_group[s] * stride);
  }
}

}  // namespace lano::kernels
