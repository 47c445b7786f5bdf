// Arrays in memory as a dataset: nothing is copied before samples are read.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "core/error.h"
#include "data/dataset.h"

namespace lano {
namespace {

class DatasetMemorySource final : public DatasetSource {
 public:
  DatasetMemorySource(std::shared_ptr<const MemoryDataset> arrays, std::int64_t samples)
      : arrays_(std::move(arrays)), samples_(samples) {}

  void read_rows(const char* array, std::int64_t first, std::int64_t count, std::span<float> values) const override {
    const bool coordinates = std::strcmp(array, "coords") == 0, input = std::strcmp(array, "input") == 0;
    if (!coordinates && !input && std::strcmp(array, "output") != 0)
      fail("reading the arrays", "coordinates, input or output", fmt::format("'{}'", array));
    const std::span<const float> all = coordinates ? arrays_->coordinates : input ? arrays_->input : arrays_->output;
    const std::int64_t rows = coordinates && arrays_->shared_coordinates ? 1 : samples_;
    const std::size_t width = all.size() / static_cast<std::size_t>(rows);
    const auto part = all.subspan(static_cast<std::size_t>(first) * width, static_cast<std::size_t>(count) * width);
    std::copy(part.begin(), part.end(), values.begin());
  }
  std::vector<std::int64_t> read_index_rows(const char* array, std::int64_t, std::int64_t) const override {
    fail("reading the arrays", "coordinates, input or output", fmt::format("'{}'", array));
  }

 private:
  std::shared_ptr<const MemoryDataset> arrays_;
  std::int64_t samples_;  // rows of an array; clouds of different sizes: their points together
};

}  // namespace

DatasetReader::DatasetReader(std::shared_ptr<const MemoryDataset> arrays, InitialFrames initial)
    : description_(arrays->description),
      size_(std::ssize(arrays->splits)),
      shared_(arrays->shared_coordinates),
      has_output_(!arrays->output.empty()),
      counts_(arrays->counts),
      splits_(arrays->splits) {
  check_description();
  const SetDescription& d = description_;
  const bool ragged = !counts_.empty();
  if (size_ < 1) fail_plainly(doing(), "there are no samples");
  if (ragged && (d.geometry != Geometry::points || !d.time.empty() || shared_ || std::ssize(counts_) != size_ ||
                 *std::min_element(counts_.begin(), counts_.end()) < 1)) {
    fail_plainly(doing(), "samples of different sizes must be steady point clouds of at least one point each");
  }
  if (ragged) offsets_.push_back(0);
  for (const std::int64_t count : counts_) offsets_.push_back(offsets_.back() + count);
  const std::int64_t rows = ragged ? offsets_.back() : size_, points = ragged ? 1 : d.points(),
                     frames = d.time.empty() ? 1 : std::ssize(d.time);
  const auto expect = [&](std::span<const float> values, std::int64_t expected, const char* what) {
    if (std::ssize(values) != expected)
      fail(doing(), fmt::format("{} values of {}", expected, what), std::to_string(values.size()));
  };
  expect(arrays->coordinates, (shared_ ? 1 : rows) * points * d.dims(), "coordinates");
  expect(arrays->input, rows * points * d.input_channels(), "input");
  if (has_output_) expect(arrays->output, rows * points * frames * d.output_channels(), "output");
  shared_ = shared_ && size_ != 1;  // as in a file: of one sample they are its own
  source_ = std::make_unique<DatasetMemorySource>(std::move(arrays), rows);
  if (initial == InitialFrames::output) show_initial_as_output();
}

}  // namespace lano
