#include "kernels/tap_table.h"

#include <algorithm>

namespace lano::kernels {

void TapTable::add_point(std::vector<Read>& reads) {
  // Stable: a row that is read twice at one tap keeps its order, here and in a part of the table (mesh_part.cpp).
  std::stable_sort(reads.begin(), reads.end(), [](const Read& a, const Read& b) {
    return a.tap != b.tap ? a.tap < b.tap : a.entry.row < b.entry.row;
  });
  auto read = reads.begin();
  for (std::int64_t t = 0; t < taps_; ++t) {
    for (; read != reads.end() && read->tap == t; ++read) entries_.push_back(read->entry);
    first_.push_back(static_cast<std::uint32_t>(entries_.size()));
  }
}

TapTable TapTable::transposed(std::int64_t rows) const {
  TapTable back(taps_);
  const auto slots = static_cast<std::size_t>(rows * taps_);
  back.first_.assign(slots + 1, 0);
  const auto slot_of = [&](std::size_t tap, const TapEntry& entry) {
    return static_cast<std::size_t>(entry.row) * static_cast<std::size_t>(taps_) + tap;
  };
  const auto each = [&](auto&& see) {
    for (std::size_t s = 0; s + 1 < first_.size(); ++s) {
      for (std::uint32_t e = first_[s]; e < first_[s + 1]; ++e)
        see(static_cast<std::int32_t>(s / static_cast<std::size_t>(taps_)), s % static_cast<std::size_t>(taps_),
            entries_[e]);
    }
  };
  each([&](std::int32_t, std::size_t tap, const TapEntry& entry) { ++back.first_[slot_of(tap, entry) + 1]; });
  for (std::size_t s = 0; s < slots; ++s) back.first_[s + 1] += back.first_[s];
  back.entries_.resize(entries_.size());
  std::vector<std::uint32_t> next(back.first_.begin(), back.first_.end() - 1);
  each([&](std::int32_t reader, std::size_t tap, const TapEntry& entry) {
    back.entries_[next[slot_of(tap, entry)]++] = {reader, entry.weight};
  });
  return back;
}

}  // namespace lano::kernels
