// The cells of a dataset: /cells [C, corners] for all samples, or with /cell_offsets [S+1] those of sample i in rows
// offsets[i] .. offsets[i+1]-1. Corners are indices of the sample's own points, from 0. What a file says is checked
// when it is opened, as far as shapes go, and the indices when they are read.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "data/dataset.h"
#include "data/hdf5_file.h"

namespace lano {

void DatasetWriter::make_cells(CellKind kind, std::int64_t count) { make_cells(kind, std::vector{count}, true); }

void DatasetWriter::make_cells(CellKind kind, const std::vector<std::int64_t>& counts) {
  make_cells(kind, counts, false);
}

void DatasetWriter::make_cells(CellKind kind, const std::vector<std::int64_t>& counts, bool shared) {
  if (!shared && counts.size() != written_.size())
    fail("writing cells", fmt::format("cells for {} samples", written_.size()), std::to_string(counts.size()));
  cell_kind_ = kind;
  cell_offsets_ = {0};
  for (const std::int64_t count : counts) {
    if (count < 1) fail("writing cells", "at least one cell per sample", std::to_string(count));
    cell_offsets_.push_back(cell_offsets_.back() + count);
  }
  const std::lock_guard lock(mutex_);
  file_->make_indices("cells", {cell_offsets_.back(), cell_corners(kind)});
  if (!shared) file_->write_integers("cell_offsets", cell_offsets_);
  file_->set_attribute("cell_kind", std::string(cell_kind_name(kind)));
}

void DatasetWriter::write_cells(std::int64_t sample, std::span<const std::int64_t> corners) {
  const auto at = static_cast<std::size_t>(sample);
  if (!cell_kind_ || at + 1 >= cell_offsets_.size()) fail_plainly("writing cells", "the cells were not created before");
  const std::int64_t rows = cell_offsets_[at + 1] - cell_offsets_[at];
  if (std::ssize(corners) != rows * cell_corners(*cell_kind_))
    fail("writing cells", fmt::format("{} cells of {} corners", rows, cell_corners(*cell_kind_)),
         fmt::format("{} corners", corners.size()));
  const std::lock_guard lock(mutex_);
  file_->write_index_rows("cells", cell_offsets_[at], rows, corners);
}

void DatasetReader::check_cells(const Hdf5File& file) {
  if (!file.has("cells")) return;
  const std::string doing = this->doing();
  const std::string kind = file.attribute("cell_kind").value_or("");
  cell_kind_ = parse_cell_kind(kind);
  const Shape shape = file.shape("cells");
  if (!cell_kind_ || shape.size() != 2 || shape[0] < 1 || shape[1] != cell_corners(*cell_kind_)) {
    fail(doing, "/cells [cells, corners] and the attribute 'cell_kind' (triangle, quadrilateral, tetrahedron, ...)",
         fmt::format("/cells {} and '{}'", shape_text(shape), kind), "see docs/formats.md, or make the file again");
  }
  cell_count_ = shape[0];
  if (!file.has("cell_offsets")) {
    if (!counts_.empty())
      fail_plainly(doing, "/cell_offsets is missing; clouds of different sizes need it with /cells",
                   "make the file again");
    return;
  }
  cell_offsets_ = file.read_integers("cell_offsets");
  const bool rising =
      std::adjacent_find(cell_offsets_.begin(), cell_offsets_.end(), std::greater_equal<>()) == cell_offsets_.end();
  if (std::ssize(cell_offsets_) != size_ + 1 || !rising || cell_offsets_.front() != 0 ||
      cell_offsets_.back() != shape[0]) {
    fail(doing, fmt::format("{} rising /cell_offsets from 0 to {}", size_ + 1, shape[0]),
         fmt::format("{} of them", cell_offsets_.size()), "make the file again");
  }
}

}  // namespace lano
