// The cells of a mesh given as an array: triangles, quadrilaterals, tetrahedra, shared by all samples or one array per
// sample. For imports and for `lano predict --cells`.
#pragma once

#include <vector>

#include "core/cell_kind.h"
#include "data/array_import.h"
#include "data/import_words.h"

namespace lano {

class ImportCells {
 public:
  // The samples the cells are for.
  struct For {
    std::int64_t samples = 1, dims = 0;
    bool ragged = false;  // clouds of different sizes
  };
  // [cells, corners] or [corners, cells], or one such array for each sample. `kind` empty: derived from the corners.
  ImportCells(NamedArray named, SampleAxis samples, const std::string& kind, const For& whom);

  CellKind kind() const { return kind_; }
  bool shared() const { return !samples_; }
  std::int64_t count_of(std::int64_t sample) const;
  // [cells, corners], indices of the sample's `points` points from 0; where the file counts from 1 (all from 1 to N),
  // one less.
  std::vector<std::int64_t> read(std::int64_t sample, std::int64_t points) const;

 private:
  const Shape& shape_of(std::int64_t sample) const;
  bool transposed(const Shape& shape) const;  // of one sample

  NamedArray named_;
  CellKind kind_ = CellKind::triangle;
  std::optional<std::size_t> samples_;  // the axis, or a list
};

}  // namespace lano
