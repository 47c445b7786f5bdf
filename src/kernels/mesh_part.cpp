#include "kernels/mesh_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "kernels/network_parts.h"

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

Share predicted_points(Index points, const Ranks& ranks) {
  const Partition partition = divide({points}, kPredictionUnit);
  const auto units = static_cast<Index>(partition.units.size());
  if (units < ranks.size())
    fail_usage(fmt::format("dividing a sample over {} ranks", ranks.size()),
               fmt::format("at most {}: {} points are cut into as many pieces", units, points),
               fmt::format("{} ranks", ranks.size()), "start fewer ranks");
  const Share share = share_of(units, ranks.rank(), ranks.size());
  const Unit &first = partition.units[at(share.first)], &last = partition.units[at(share.last - 1)];
  return {first.first, last.first + last.count};
}

Index most_prediction_ranks(Index points) { return static_cast<Index>(divide({points}, kPredictionUnit).units.size()); }

std::int64_t most_training_ranks(Index points, const NetworkShape& shape) {
  return static_cast<Index>(divide({points}, kTrainingUnit, groups_of(widths_of(shape))).groups.size());
}

MeshPart::MeshPart(Ranks& ranks, std::span<Sample> samples, const Partition& partition, bool groups, bool halo,
                   bool back)
    : ranks_(ranks), samples_(samples), partition_(partition) {
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const Share all_groups{partition.first_group[s], partition.first_group[s + 1]},
        all_units{partition.first_unit[s], partition.first_unit[s + 1]};
    auto& group_shares = group_shares_.emplace_back();
    auto& unit_shares = unit_shares_.emplace_back();
    const auto unit_of = [&](Index g) { return g == all_groups.last ? all_units.last : partition.groups[at(g)].first; };
    const auto share = [&](const Share& all, int r) {
      const Share part = share_of(all.count(), r, ranks.size());
      return Share{all.first + part.first, all.first + part.last};
    };
    for (int r = 0; r < ranks.size(); ++r) {
      group_shares.push_back(share(all_groups, r));
      unit_shares.push_back(groups ? Share{unit_of(group_shares.back().first), unit_of(group_shares.back().last)}
                                   : share(all_units, r));
    }
    const Share own_groups = group_shares[at(ranks.rank())], own_units = unit_shares[at(ranks.rank())];
    for (Index g = own_groups.first; g < own_groups.last; ++g) groups_.push_back(g);
    for (Index u = own_units.first; u < own_units.last; ++u) units_.push_back(u);
  }
  if (whole() || !halo) return;
  const auto needs = [&](bool backwards) {
    std::vector<Ranges> all;
    for (std::size_t s = 0; s < samples.size(); ++s) all.push_back(needed(static_cast<Index>(s), backwards));
    return all;
  };
  ahead_ = agree(needs(false));
  if (!back) return;
  const std::vector<Ranges> readers = needs(true);
  back_ = agree(readers);
  write_tables(readers);
}

// What the stencil reads at this rank's points, and which points read them, as Geometry has it of all.
void MeshPart::write_tables(const std::vector<Ranges>& readers) {
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Geometry& whole = *samples_[s].geometry;
    if (samples_[s].neighbours != nullptr || whole.stencil_shape.empty() || !whole.table.empty()) continue;
    Index taps = 1;
    for (std::size_t a = 0; a < whole.stencil_shape.size(); ++a) taps *= 3;
    const Share own = own_points(static_cast<Index>(s));
    auto part = std::make_unique<Geometry>(whole);
    part->table = TapTable(taps, own.first);
    std::vector<TapTable::Read> reads;
    for (Index p = own.first; p < own.last; ++p) {
      reads.clear();
      for_stencil(whole, p, [&](Index row, Index tap, float weight) {
        reads.push_back({tap, {static_cast<std::int32_t>(row), weight}});
      });
      part->table.add_point(reads);
    }
    Ranges points = readers[s];
    points.push_back(own);
    std::sort(points.begin(), points.end(), [](const Share& x, const Share& y) { return x.first < y.first; });
    std::vector<std::vector<TapTable::Read>> read_by(at(own.count()));
    for (const Share& range : points) {
      for (Index p = range.first; p < range.last; ++p) {
        for_stencil(whole, p, [&](Index row, Index tap, float weight) {
          if (row >= own.first && row < own.last)
            read_by[at(row - own.first)].push_back({tap, {static_cast<std::int32_t>(p), weight}});
        });
      }
    }
    part->table_back = TapTable(taps, own.first);
    for (std::vector<TapTable::Read>& reads_of : read_by) part->table_back.add_point(reads_of);
    samples_[s].geometry = part.get();
    geometries_.push_back(std::move(part));
  }
}

Share MeshPart::own_points(Index sample, int rank) const {
  const Share share = unit_shares_[at(sample)][at(rank)];
  if (share.count() == 0) return {};
  const Unit &first = partition_.units[at(share.first)], &last = partition_.units[at(share.last - 1)];
  return {first.first, last.first + last.count};
}

// Points of a sample that this rank reads and does not have, by rising number. Of a mesh whole lines along the first
// axis, which may be more than is read.
MeshPart::Ranges MeshPart::needed(Index sample, bool back) const {
  const auto [begin, end] = own_points(sample);
  if (begin == end) return {};
  const Sample& s = samples_[at(sample)];
  std::vector<Index> lines;  // that are read
  Index length = 1;          // points of a line
  if (s.neighbours != nullptr) {
    const TapTable& table = back ? s.neighbours->table_back() : s.neighbours->table();
    if (!table.empty()) {
      for (std::uint32_t e = *table.first(begin); e < *table.first(end); ++e) lines.push_back(table.entries()[e].row);
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

// Every rank says what it needs; which rank has which points, all know.
MeshPart::Halo MeshPart::agree(const std::vector<Ranges>& needs) const {
  std::vector<Index> said;
  for (const Ranges& ranges : needs) {
    said.push_back(static_cast<Index>(ranges.size()));
    for (const Share& range : ranges) {
      said.push_back(range.first);
      said.push_back(range.last);
    }
  }
  const std::vector<std::string> all = ranks_.gather(as_text(said));
  Halo halo;
  halo.from.resize(at(ranks_.size()));
  halo.to.resize(at(ranks_.size()));
  std::vector<Index> given(at(ranks_.size())), taken(at(ranks_.size()));
  for (int reader = 0; reader < ranks_.size(); ++reader) {
    const std::vector<Index> numbers = as_numbers(all[at(reader)]);
    std::size_t next = 0;
    for (std::size_t s = 0; s < samples_.size(); ++s) {
      for (Index count = numbers[next++]; count > 0; --count, next += 2) {
        for (int owner = 0; owner < ranks_.size(); ++owner) {
          const Share own = own_points(static_cast<Index>(s), owner);
          const Share part{samples_[s].first + std::max(own.first, numbers[next]),
                           samples_[s].first + std::min(own.last, numbers[next + 1])};
          if (part.first >= part.last) continue;
          given[at(owner)] += part.count();
          taken[at(reader)] += part.count();
          if (reader == ranks_.rank()) halo.from[at(owner)].push_back(part);
          if (owner == ranks_.rank()) halo.to[at(reader)].push_back(part);
        }
      }
    }
  }
  halo.most = std::max(*std::max_element(given.begin(), given.end()), *std::max_element(taken.begin(), taken.end()));
  return halo;
}

void MeshPart::fetch_halo(float* rows, Index stride, Index width, bool back) const {
  if (whole()) return;
  const Halo& halo = back ? back_ : ahead_;
  const auto floats = [&](const std::vector<Ranges>& of_ranks, Index columns, std::vector<std::size_t>& counts) {
    std::size_t all = 0;
    counts.clear();
    for (const Ranges& ranges : of_ranks) {
      Index points = 0;
      for (const Share& range : ranges) points += range.count();
      counts.push_back(at(points * columns));
      all += counts.back();
    }
    return all;
  };
  // Of hundreds of millions of points the halo is some gigabytes: a few columns at a time, which also bounds the
  // copies.
  const auto most = static_cast<Index>(ranks_.floats_at_once() / 4);
  const Index rounds = std::clamp<Index>((halo.most * width + most - 1) / most, 1, width);
  std::vector<std::size_t> sent, received;
  std::vector<float> pieces, got;
  for (Index round = 0; round < rounds; ++round) {
    const Share columns = share_of(width, round, rounds);
    pieces.resize(floats(halo.to, columns.count(), sent));
    got.resize(floats(halo.from, columns.count(), received));
    float* to = pieces.data();
    for (const Ranges& ranges : halo.to) {
      for (const Share& range : ranges) {
        for (Index p = range.first; p < range.last; ++p)
          to = std::copy_n(rows + p * stride + columns.first, columns.count(), to);
      }
    }
    ranks_.swap_floats(pieces, sent, got, received, at(halo.most * columns.count()));
    const float* from = got.data();
    for (const Ranges& ranges : halo.from) {
      for (const Share& range : ranges) {
        for (Index p = range.first; p < range.last; ++p, from += columns.count())
          std::copy_n(from, columns.count(), rows + p * stride + columns.first);
      }
    }
  }
}

void MeshPart::turn(std::span<const Index> first_row, const float* rows, Index width, Columns& columns) const {
  std::vector<Index> counts(at(ranks_.size()));
  std::vector<float> mine;
  columns.place.resize(partition_.units.size());
  Index place = 0;
  for (int r = 0; r < ranks_.size(); ++r) {
    for (const auto& shares : unit_shares_) {
      const Share share = shares[at(r)];
      const Index first = first_row[at(share.first)], last = first_row[at(share.last)];
      for (Index u = share.first; u < share.last; ++u) columns.place[at(u)] = place + first_row[at(u)] - first;
      place += last - first;
      counts[at(r)] += last - first;
      if (r == ranks_.rank()) mine.insert(mine.end(), rows + first * width, rows + last * width);
    }
  }
  const Share own = share_of(width, ranks_.rank(), ranks_.size());
  columns.first = own.first;
  columns.count = own.count();
  ranks_.turn_columns(mine, counts, width, columns.rows);
}

void MeshPart::expect_own(Buffer& rows, Index stride) const {
  if (whole()) return;
  std::vector<Share> parts;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Share own = own_points(static_cast<Index>(s));
    parts.push_back({(samples_[s].first + own.first) * stride, (samples_[s].first + own.last) * stride});
  }
  rows.expect_parts(parts);
}

void MeshPart::share_points(float* rows, Index width) const {
  if (whole()) return;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    std::vector<std::size_t> counts;
    for (int r = 0; r < ranks_.size(); ++r) counts.push_back(at(own_points(static_cast<Index>(s), r).count() * width));
    const Share own = own_points(static_cast<Index>(s));
    float* const begin = rows + samples_[s].first * width;
    const std::vector<float> mine(begin + own.first * width, begin + own.last * width);
    const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    ranks_.gather_floats(mine, counts, {begin, all});
  }
}

void MeshPart::sum_units(float* rows, Index stride, Index width) const {
  sum_shares(unit_shares_, partition_.first_unit, rows, stride, width);
}

void MeshPart::sum_groups(float* rows, Index stride, Index width) const {
  sum_shares(group_shares_, partition_.first_group, rows, stride, width);
}

void MeshPart::sum_shares(const std::vector<std::vector<Share>>& shares, std::span<const Index> first, float* rows,
                          Index stride, Index width) const {
  const FlushDenormals flush;  // as one rank sums
  std::vector<float> mine;
  for (std::size_t s = 0; s < samples_.size(); ++s) {
    const Share own = shares[s][at(ranks_.rank())];
    mine.clear();
    for (Index i = own.first; i < own.last; ++i) mine.insert(mine.end(), rows + i * stride, rows + i * stride + width);
    ranks_.sum_rows(mine, {rows + first[s] * stride, at(width)});
  }
}

}  // namespace lano::kernels
