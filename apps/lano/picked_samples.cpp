#include "picked_samples.h"

#include <nlohmann/json.hpp>
#include <span>

#include "data/dataset.h"

namespace lano::cli {

using nlohmann::json;

PickedSamples read_picked_samples(const std::filesystem::path& path) {
  PickedSamples content;
  const DatasetReader reader(path);
  const Samples samples = reader.read(reader.indices("all"));
  const SetDescription& both = reader.description();
  content.set = both;
  const auto du = static_cast<std::size_t>(both.output_channels() / 2);
  content.set.output.resize(du);
  const json picked = json::parse(both.generator).at("picked");
  const auto copy = [](std::span<const float> values) { return std::vector<float>(values.begin(), values.end()); };
  for (std::int64_t s = 0; s < samples.count; ++s) {
    ReportSample sample;
    sample.label = samples.count == 1 ? "sample" : s == 0 ? "best" : s + 1 == samples.count ? "worst" : "median";
    sample.id = picked.at(static_cast<std::size_t>(s)).at("id");
    sample.relative_l2 = picked.at(static_cast<std::size_t>(s)).at("relative_l2");
    sample.coordinates = copy(samples.coordinates_of(s, both.dims()));
    sample.input = copy(samples.input_of(s, both.input_channels()));
    const auto output = samples.output_of(s, both.output_channels());
    for (std::size_t at = 0; at < output.size(); at += 2 * du) {
      const auto point = output.subspan(at, 2 * du);
      sample.truth.insert(sample.truth.end(), point.begin(), point.begin() + static_cast<std::ptrdiff_t>(du));
      sample.prediction.insert(sample.prediction.end(), point.begin() + static_cast<std::ptrdiff_t>(du), point.end());
    }
    content.samples.push_back(std::move(sample));
  }
  return content;
}

}  // namespace lano::cli
