// The first two axes of an array change places: [rows, columns, fields] becomes [columns, rows, fields].
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace lano {

inline void turn_axes(std::span<const float> from, std::size_t rows, std::size_t columns, std::size_t fields,
                      std::span<float> to) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(from.data() + (r * columns + c) * fields, fields, to.data() + (c * rows + r) * fields);
  }
}

}  // namespace lano
