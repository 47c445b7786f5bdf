// Copies between arrays whose axes lie differently in memory: column-major to row-major, axes in another order, every
// k-th index. Strides and counts are in elements, one per axis.
#pragma once

#include <cstring>
#include <span>
#include <vector>

#include "core/shape.h"

namespace lano {

// Elements between neighbours along each axis, last axis fastest (row-major) or first axis fastest (column-major).
Shape row_major_strides(const Shape& shape);
Shape column_major_strides(const Shape& shape);

// `from` holds numbers of type T at any alignment; they become float32.
template <class T>
void strided_copy(const char* from, std::span<const std::int64_t> from_strides, float* to,
                  std::span<const std::int64_t> to_strides, std::span<const std::int64_t> counts) {
  if (counts.empty()) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    *to = static_cast<float>(value);
    return;
  }
  const std::int64_t step = from_strides[0] * static_cast<std::int64_t>(sizeof(T));
  if (counts.size() > 1) {
    for (std::int64_t i = 0; i < counts[0]; ++i) {
      strided_copy<T>(from + i * step, from_strides.subspan(1), to + i * to_strides[0], to_strides.subspan(1),
                      counts.subspan(1));
    }
    return;
  }
  for (std::int64_t i = 0; i < counts[0]; ++i) {
    T value;
    std::memcpy(&value, from + i * step, sizeof(T));
    to[i * to_strides[0]] = static_cast<float>(value);
  }
}

using StridedCopy = void (*)(const char*, std::span<const std::int64_t>, float*, std::span<const std::int64_t>,
                             std::span<const std::int64_t>);

// Row-major values of `shape` with their axes in another order: axis k of the result is axis order[k] of `values`.
std::vector<float> permuted(std::span<const float> values, const Shape& shape, const std::vector<std::size_t>& order);

}  // namespace lano
