// Skilling's transform ("Programming the Hilbert curve", AIP Conf. Proc. 707, 2004): the bits of the axes are
// transformed, in place, into those of the curve's index, spread over the axes; interleaving them gives the index.
// O(dims * bits) per point, O(N log N) for the sort.
#include "core/hilbert.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <tuple>

namespace lano {
namespace {

constexpr int kBits = 16;

}  // namespace

std::uint64_t hilbert_key(std::vector<std::uint32_t> cell, int bits) {
  const std::size_t axes = cell.size();
  const std::uint32_t top = 1u << (bits - 1);
  // Undo the excess work: reflect or exchange lower bits, from the coarsest level down.
  for (std::uint32_t level = top; level > 1; level >>= 1) {
    const std::uint32_t below = level - 1;
    for (std::uint32_t& x : cell) {
      if ((x & level) != 0) {
        cell[0] ^= below;
      } else {
        const std::uint32_t exchange = (cell[0] ^ x) & below;
        cell[0] ^= exchange;
        x ^= exchange;
      }
    }
  }
  // Gray encode.
  for (std::size_t a = 1; a < axes; ++a) cell[a] ^= cell[a - 1];
  std::uint32_t flip = 0;
  for (std::uint32_t level = top; level > 1; level >>= 1) {
    if ((cell[axes - 1] & level) != 0) flip ^= level - 1;
  }
  std::uint64_t key = 0;
  for (int bit = bits - 1; bit >= 0; --bit) {
    for (const std::uint32_t x : cell) key = key << 1 | (((x ^ flip) >> bit) & 1);
  }
  return key;
}

std::uint64_t hilbert_key(std::span<const float> point, std::span<const double> box) {
  constexpr double kCells = 1 << kBits;
  std::vector<std::uint32_t> cell(point.size());
  for (std::size_t a = 0; a < point.size(); ++a) {
    const double extent = box[2 * a + 1] - box[2 * a];
    const double at = extent > 0 ? (point[a] - box[2 * a]) / extent * kCells : 0;
    cell[a] =
        at > 0 ? static_cast<std::uint32_t>(std::min(at, kCells - 1)) : 0;  // what is no number lies at the lower end
  }
  return hilbert_key(std::move(cell), kBits);
}

std::vector<std::int64_t> hilbert_order(std::span<const float> coordinates, std::int64_t dims,
                                        std::span<const float> input, std::int64_t channels,
                                        std::span<const double> box) {
  const auto d = static_cast<std::size_t>(dims);
  const std::size_t points = coordinates.size() / d;
  std::vector<std::uint64_t> keys(points);
  for (std::size_t p = 0; p < points; ++p) keys[p] = hilbert_key(coordinates.subspan(p * d, d), box);
  const auto row = [](std::span<const float> values, std::int64_t width, std::int64_t p) {
    return values.subspan(static_cast<std::size_t>(p * width), static_cast<std::size_t>(width));
  };
  // By IEEE's total order, in which -0 comes before 0: below, at or above 0.
  const auto rank = [](float x) {
    std::int32_t bits = 0;  // std::bit_cast is none of libc++ 14's
    std::memcpy(&bits, &x, sizeof bits);
    return bits < 0 ? bits ^ 0x7fffffff : bits;
  };
  const auto compare = [&rank](std::span<const float> a, std::span<const float> b) {
    for (std::size_t i = 0; i < a.size(); ++i)
      if (rank(a[i]) != rank(b[i])) return rank(a[i]) < rank(b[i]) ? -1 : 1;
    return 0;
  };
  std::vector<std::int64_t> order(points);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::sort(order.begin(), order.end(), [&](std::int64_t p, std::int64_t q) {
    const std::uint64_t kp = keys[static_cast<std::size_t>(p)], kq = keys[static_cast<std::size_t>(q)];
    if (kp != kq) return kp < kq;
    const auto by_place = compare(row(coordinates, dims, p), row(coordinates, dims, q));
    if (by_place != 0) return by_place < 0;
    return compare(row(input, channels, p), row(input, channels, q)) < 0;
  });
  return order;
}

}  // namespace lano
