#include "core/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace lano {
namespace {

// Floats that go round at once, of all rows: bounds the memory, and the counts of MPI, which are ints.
constexpr std::int64_t kFloatsAtOnce = std::int64_t{1} << 24;

struct Word {
  std::int64_t failed = 0;  // bytes of the sentence, 0: well
  std::int64_t value = 0;
};

class OneRank : public Ranks {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::unique_ptr<Ranks> split(int) override { return std::make_unique<OneRank>(); }
  Came all_come_within(double) noexcept override { return Came::all; }
  void end_all() noexcept override {}

 protected:
  void exchange(const void* mine, std::size_t bytes, void* all) override { copy(mine, bytes, all); }
  void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) override { copy(mine, bytes[0], all); }
  void exchange_in_place(std::span<const std::size_t>, void*) override {}
  void hand_round(const void*, std::span<const std::size_t>, void*, std::span<const std::size_t>) override {}

 private:
  static void copy(const void* from, std::size_t bytes, void* to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
};

std::unique_ptr<Ranks>& current() {
  static std::unique_ptr<Ranks> ranks = std::make_unique<OneRank>();
  return ranks;
}

std::unique_ptr<Ranks>& current_mesh() {
  static std::unique_ptr<Ranks> ranks = std::make_unique<OneRank>();
  return ranks;
}

std::vector<std::size_t> in_bytes(std::span<const std::size_t> floats) {
  std::vector<std::size_t> bytes(floats.size());
  std::transform(floats.begin(), floats.end(), bytes.begin(), [](std::size_t n) { return n * sizeof(float); });
  return bytes;
}

}  // namespace

Ranks& ranks() { return *current(); }
void set_ranks(std::unique_ptr<Ranks> several) {
  current_mesh() = std::make_unique<OneRank>();  // before the ranks it is a part of
  current() = several == nullptr ? std::make_unique<OneRank>() : std::move(several);
}

Ranks& one_rank() {
  static OneRank itself;
  return itself;
}

Ranks& mesh_ranks() { return *current_mesh(); }
int mesh_group() { return ranks().rank() / mesh_ranks().size(); }
int mesh_groups() { return ranks().size() / mesh_ranks().size(); }
void set_mesh_ranks(int size) {
  const int all = ranks().size();
  if (size < 1 || all % size != 0)
    fail_usage(fmt::format("dividing each mesh over {} ranks", size), "a number that divides the ranks of the job",
               fmt::format("{} ranks", all));
  ranks().meet();  // one that has failed is heard here: no rank divides them alone
  current_mesh() = ranks().split(ranks().rank() / size);
}

AloneForNow::AloneForNow() : several_(std::move(current())), mesh_(std::move(current_mesh())) { set_ranks(nullptr); }
AloneForNow::~AloneForNow() {
  set_ranks(std::move(several_));
  current_mesh() = std::move(mesh_);
}

void Ranks::gather_floats(std::span<const float> mine, std::span<const std::size_t> counts, std::span<float> all) {
  const std::size_t total = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const auto rounds = static_cast<std::int64_t>(rounds_of(total));
  if (rounds == 1) return exchange(mine.data(), in_bytes(counts), all.data());
  std::vector<std::size_t> bytes(counts.size());
  std::vector<float> got;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto part = [&](std::size_t r) { return share_of(static_cast<std::int64_t>(counts[r]), round, rounds); };
    std::size_t size = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      bytes[r] = static_cast<std::size_t>(part(r).count()) * sizeof(float);
      size += static_cast<std::size_t>(part(r).count());
    }
    got.resize(size);
    exchange(mine.data() + part(static_cast<std::size_t>(rank())).first, bytes, got.data());
    std::size_t from = 0, to = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      const auto count = static_cast<std::size_t>(part(r).count());
      std::copy_n(got.data() + from, count, all.data() + to + static_cast<std::size_t>(part(r).first));
      from += count;
      to += counts[r];
    }
  }
}

void Ranks::swap_floats(std::span<const float> pieces, std::span<const std::size_t> counts, std::span<float> got,
                        std::span<const std::size_t> got_counts, std::size_t most) {
  const auto rounds = static_cast<std::int64_t>(rounds_of(most));
  if (rounds == 1) return hand_round(pieces.data(), in_bytes(counts), got.data(), in_bytes(got_counts));
  std::vector<float> out, in;
  std::vector<std::size_t> sent(counts.size()), received(counts.size());
  for (std::int64_t round = 0; round < rounds; ++round) {
    const auto part = [&](std::size_t count) { return share_of(static_cast<std::int64_t>(count), round, rounds); };
    out.clear();
    std::size_t at = 0, all = 0;
    for (std::size_t r = 0; r < counts.size(); at += counts[r++]) {
      const auto [first, last] = part(counts[r]);
      out.insert(out.end(), pieces.data() + at + first, pieces.data() + at + last);
      sent[r] = static_cast<std::size_t>(last - first);
      received[r] = static_cast<std::size_t>(part(got_counts[r]).count());
      all += received[r];
    }
    in.resize(all);
    hand_round(out.data(), in_bytes(sent), in.data(), in_bytes(received));
    const float* from = in.data();
    float* to = got.data();
    for (std::size_t r = 0; r < counts.size(); to += got_counts[r++]) {
      std::copy_n(from, received[r], to + part(got_counts[r]).first);
      from += received[r];
    }
  }
}

void Ranks::turn_columns(std::span<const float> mine, std::span<const std::int64_t> counts, std::int64_t width,
                         std::vector<float>& all) {
  const auto at = static_cast<std::size_t>(rank());
  const Share own = share_of(width, rank(), size());
  const std::int64_t rows = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<std::size_t> sent(counts.size()), got(counts.size());
  pieces_.resize(mine.size());
  float* piece = pieces_.data();
  for (int to = 0; to < size(); ++to) {
    const Share columns = share_of(width, to, size());
    for (std::int64_t r = 0; r < counts[at]; ++r)
      piece = std::copy_n(mine.data() + r * width + columns.first, columns.count(), piece);
    sent[static_cast<std::size_t>(to)] = static_cast<std::size_t>(counts[at] * columns.count());
    got[static_cast<std::size_t>(to)] = static_cast<std::size_t>(counts[static_cast<std::size_t>(to)] * own.count());
  }
  all.resize(static_cast<std::size_t>(rows * own.count()));
  const std::int64_t widest = (width + size() - 1) / size(),
                     most = std::max(*std::max_element(counts.begin(), counts.end()) * width, rows * widest);
  swap_floats(pieces_, sent, all, got, static_cast<std::size_t>(most));
}

void Ranks::join_columns(std::span<const float> mine, std::int64_t width, std::span<float> whole) {
  const std::int64_t rows = width == 0 ? 0 : static_cast<std::int64_t>(whole.size()) / width;
  std::vector<std::size_t> counts;
  for (int r = 0; r < size(); ++r)
    counts.push_back(static_cast<std::size_t>(rows * share_of(width, r, size()).count()));
  got_.resize(whole.size());
  gather_floats(mine, counts, got_);
  const float* from = got_.data();
  for (int r = 0; r < size(); ++r) {
    const Share columns = share_of(width, r, size());
    for (std::int64_t row = 0; row < rows; ++row, from += columns.count())
      std::copy_n(from, columns.count(), whole.data() + row * width + columns.first);
  }
}

std::vector<std::string> Ranks::gather_texts(std::string_view mine, std::span<const std::size_t> bytes) {
  std::string all(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}), '\0');
  exchange(mine.data(), bytes, all.data());
  std::vector<std::string> texts;
  std::size_t at = 0;
  for (const std::size_t size : bytes) {
    texts.push_back(all.substr(at, size));
    at += size;
  }
  return texts;
}

std::vector<std::int64_t> Ranks::check_in(std::int64_t value) {
  const Word mine{0, value};
  std::vector<Word> words(static_cast<std::size_t>(size()));
  exchange(&mine, sizeof mine, words.data());
  std::vector<std::int64_t> values;
  std::vector<std::size_t> bytes;
  for (const Word& word : words) {
    values.push_back(word.value);
    bytes.push_back(static_cast<std::size_t>(word.failed));
  }
  const auto failed = std::find_if(bytes.begin(), bytes.end(), [](std::size_t size) { return size > 0; });
  if (failed == bytes.end()) return values;
  const std::vector<std::string> texts = gather_texts({}, bytes);
  throw RankFailure(
      fmt::format("rank {}: {}", failed - bytes.begin(), texts[static_cast<std::size_t>(failed - bytes.begin())]));
}

std::vector<std::string> Ranks::tell_failure(const std::string& sentence) noexcept {
  if (alone()) return {};
  try {
    const std::string text = sentence.empty() ? "failed" : sentence.substr(0, 4096);
    const Word mine{static_cast<std::int64_t>(text.size()), 0};
    std::vector<Word> words(static_cast<std::size_t>(size()));
    exchange(&mine, sizeof mine, words.data());
    std::vector<std::size_t> bytes;
    for (const Word& word : words) bytes.push_back(static_cast<std::size_t>(word.failed));
    return gather_texts(text, bytes);
  } catch (...) {
    return {};
  }
}

std::vector<std::string> Ranks::gather(std::string_view mine) {
  const std::vector<std::int64_t> sizes = check_in(static_cast<std::int64_t>(mine.size()));
  return gather_texts(mine, std::vector<std::size_t>(sizes.begin(), sizes.end()));
}

std::vector<double> Ranks::gather(std::span<const double> mine) {
  std::vector<double> all;
  for (const std::string& text :
       gather(std::string_view(reinterpret_cast<const char*>(mine.data()), mine.size_bytes()))) {
    const std::size_t before = all.size();
    all.resize(before + text.size() / sizeof(double));
    if (!text.empty()) std::memcpy(all.data() + before, text.data(), text.size());
  }
  return all;
}

std::string Ranks::from_first(std::string_view mine) { return gather(first() ? mine : std::string_view()).front(); }

void Ranks::sum_rows(std::span<const float> rows, std::span<float> sum) {
  const auto width = static_cast<std::int64_t>(sum.size());
  const std::int64_t own = width == 0 ? 0 : static_cast<std::int64_t>(rows.size()) / width;
  std::vector<std::size_t> sent(static_cast<std::size_t>(size())), received(sent.size()), slices(sent.size());
  const std::vector<std::int64_t> counts = check_in(own);
  const std::int64_t all = std::accumulate(counts.begin(), counts.end(), std::int64_t{0}), parts = size();
  const std::int64_t columns = std::max<std::int64_t>(parts, kFloatsAtOnce / std::max<std::int64_t>(1, all));
  // A rank that finds no memory must say so before the others wait for its pieces: where any rank may need more than
  // before, all make room and then synchronise once more.
  const std::int64_t widest = std::min(columns, width), narrowest = widest / parts,
                     room = std::max(*std::max_element(counts.begin(), counts.end()) * (widest - narrowest),
                                     all * (narrowest + 1));
  if (parts > 1 && room > room_) {
    pieces_.reserve(static_cast<std::size_t>(room));
    got_.reserve(static_cast<std::size_t>(room));
    meet();
    room_ = room;
  }
  // Each rank adds up a slice of the columns for all.
  for (std::int64_t begin = 0; begin < width; begin += columns) {
    const std::int64_t count = std::min(columns, width - begin);
    const Share mine = share_of(count, rank(), parts);
    pieces_.resize(static_cast<std::size_t>(own * (count - mine.count())));
    float* piece = pieces_.data();
    for (std::int64_t to = 0; to < parts; ++to) {
      const Share slice = share_of(count, to, parts);
      const bool other = to != rank();  // this rank's own slice stays where it is
      for (std::int64_t r = 0; other && r < own; ++r)
        piece = std::copy_n(rows.data() + r * width + begin + slice.first, slice.count(), piece);
      sent[static_cast<std::size_t>(to)] = other ? static_cast<std::size_t>(own * slice.count()) * sizeof(float) : 0;
      slices[static_cast<std::size_t>(to)] = static_cast<std::size_t>(slice.count()) * sizeof(float);
      received[static_cast<std::size_t>(to)] =
          other ? static_cast<std::size_t>(counts[static_cast<std::size_t>(to)] * mine.count()) * sizeof(float) : 0;
    }
    got_.resize(static_cast<std::size_t>((all - own) * mine.count()));
    hand_round(pieces_.data(), sent, got_.data(), received);
    float* const to = sum.data() + begin + mine.first;
    const float* next = got_.data();
    bool started = false;
    for (std::size_t from = 0; from < counts.size(); ++from) {
      for (std::int64_t r = 0; r < counts[from]; ++r) {
        const bool here = static_cast<int>(from) == rank();
        const float* const row = here ? rows.data() + r * width + begin + mine.first : next;
        if (!here) next += mine.count();
        for (std::int64_t c = 0; c < mine.count(); ++c) to[c] = started ? to[c] + row[c] : row[c];
        started = true;
      }
    }
    if (!started) std::fill_n(to, mine.count(), 0.0f);
    exchange_in_place(slices, sum.data() + begin);
  }
}

}  // namespace lano
