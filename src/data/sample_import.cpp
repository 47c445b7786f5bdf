#include "data/sample_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/dataset.h"

namespace lano {
namespace {

void check_finite(std::span<const float> values, const char* what, std::int64_t first, std::int64_t count) {
  const auto bad = std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return;
  const std::int64_t sample = first + (bad - values.begin()) / (static_cast<std::int64_t>(values.size()) / count);
  fail("importing samples", fmt::format("finite numbers in the {}", what),
       fmt::format("{} in sample {} of the file", *bad, sample),
       "copy the file again, or choose other samples with --train and --test");
}

}  // namespace

std::int64_t samples_at_once(const ArraySource& source, std::int64_t values_per_sample) {
  const std::int64_t values = std::int64_t{1} << (source.costly_parts() ? 27 : 24);
  return std::max<std::int64_t>(1, values / std::max<std::int64_t>(1, values_per_sample));
}

std::int64_t write_samples(const std::filesystem::path& out, const SetDescription& description,
                           std::span<const float> shared, const SamplePart& train, const SamplePart& test,
                           std::int64_t at_once, double validation_share) {
  check_finite(shared, "coordinates", 0, 1);
  for (const double time : description.time) {
    if (!std::isfinite(time)) fail("importing samples", "finite times", std::to_string(time), "copy the file again");
  }
  DatasetWriter writer(out, description, make_splits(train.count, test.count, validation_share), shared);
  std::int64_t written = 0;
  for (const SamplePart* part : {&train, &test}) {
    for (std::int64_t done = 0; done < part->count; done += at_once) {
      const std::int64_t count = std::min(at_once, part->count - done), first = part->first + done;
      const SampleBlock block = part->load(first, count);
      check_finite(block.coordinates, "coordinates", first, count);
      check_finite(block.input, "input", first, count);
      check_finite(block.output, "output", first, count);
      check_finite(block.kept, "kept fields", first, count);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto row = [&](const std::vector<float>& values) {
          const std::size_t width = values.size() / static_cast<std::size_t>(count);
          return std::span(values).subspan(static_cast<std::size_t>(i) * width, width);
        };
        writer.write(written++, row(block.coordinates), row(block.input), row(block.output), row(block.kept));
      }
    }
  }
  writer.commit();
  return written;
}

void expect_shape(const ArraySource& source, const Shape& expected) {
  const Shape& found = source.shape();
  bool same = found.size() == expected.size();
  for (std::size_t a = 0; same && a < expected.size(); ++a)
    same = expected[a] == found[a] || (expected[a] < 0 && found[a] > 0);
  if (same) return;
  std::vector<std::string> axes;
  for (const std::int64_t extent : expected) axes.push_back(extent < 0 ? "any" : std::to_string(extent));
  fail(source.doing(), fmt::format("shape [{}]", fmt::join(axes, ", ")), shape_text(found),
       "take the file as published");
}

void expect_samples(const std::string& doing, const char* kind, std::int64_t count, std::int64_t available) {
  if (count > available) {
    fail_usage(doing, fmt::format("at most {} {} samples", available, kind), std::to_string(count),
               "choose with --train and --test");
  }
}

std::vector<float> interleaved(const std::vector<std::vector<float>>& arrays) {
  std::vector<float> out(arrays.front().size() * arrays.size());
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    for (std::size_t i = 0; i < arrays[a].size(); ++i) out[i * arrays.size() + a] = arrays[a][i];
  }
  return out;
}

}  // namespace lano
