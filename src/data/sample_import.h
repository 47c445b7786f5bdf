// What the benchmark importers share: samples are loaded block by block from whatever files hold them, checked,
// and written to a dataset file with its splits. Private to src/data.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/set_description.h"
#include "data/array_source.h"

namespace lano {

// The arrays of some samples, one sample behind the other, each as DatasetWriter::write takes it.
struct SampleBlock {
  std::vector<float> coordinates, input, output, kept;
};

// `count` samples from `first` of a file.
using LoadSamples = std::function<SampleBlock(std::int64_t first, std::int64_t count)>;

struct SamplePart {
  LoadSamples load;
  std::int64_t first = 0, count = 0;  // samples of the file
};

// The most samples to load at once: about 64 MB, or 512 MB where `source` makes small parts costly.
std::int64_t samples_at_once(const ArraySource& source, std::int64_t values_per_sample);

// Writes the training samples and then the test samples; returns their number. Empty `shared` coordinates: each sample
// brings its own. Nothing is left at `out` after a failure.
std::int64_t write_samples(const std::filesystem::path& out, const SetDescription& description,
                           std::span<const float> shared, const SamplePart& train, const SamplePart& test,
                           std::int64_t at_once, double validation_share);

// Fails unless the source has this shape; -1 stands for any extent.
void expect_shape(const ArraySource& source, const Shape& expected);

// Fails if `count` is more than the `available` samples.
void expect_samples(const std::string& doing, const char* kind, std::int64_t count, std::int64_t available);

// [S, N] arrays side by side: [S, N, arrays].
std::vector<float> interleaved(const std::vector<std::vector<float>>& arrays);

// Points left of `extent` points when every stride-th is kept.
inline std::int64_t kept_points(std::int64_t extent, std::int64_t stride) { return (extent - 1) / stride + 1; }

}  // namespace lano
