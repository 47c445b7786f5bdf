#include "picked_samples.h"

#include <nlohmann/json.hpp>
#include <span>

#include "core/error.h"
#include "core/strict_json.h"
#include "data/dataset.h"

namespace lano::cli {

using nlohmann::json;

PickedSamples read_picked_samples(const std::filesystem::path& path) {
  PickedSamples content;
  const DatasetReader reader(path);
  const Samples samples = reader.read(reader.indices("all"));
  const SetDescription& both = reader.description();
  content.set = both;
  const std::string doing = "reading '" + path.string() + "'";
  if (both.output_channels() < 2 || both.output_channels() % 2 != 0) {
    fail(doing, "truth and prediction of each field", std::to_string(both.output_channels()) + " channels",
         "the file is not one of lano eval's");
  }
  const auto du = static_cast<std::size_t>(both.output_channels() / 2);
  content.set.output.resize(du);
  const json made_by = parse_json(both.generator, doing, "the attribute generator");
  const auto picked = [&](std::int64_t s, const char* key) -> const json& {
    try {
      return made_by.at("picked").at(static_cast<std::size_t>(s)).at(key);
    } catch (const json::exception& error) {
      fail(doing, "the picked samples in the attribute generator", error.what(), "the file is not one of lano eval's");
    }
  };
  const auto copy = [](std::span<const float> values) { return std::vector<float>(values.begin(), values.end()); };
  for (std::int64_t s = 0; s < samples.count; ++s) {
    ReportSample sample;
    sample.label = samples.count == 1 ? "sample" : s == 0 ? "best" : s + 1 == samples.count ? "worst" : "median";
    sample.id = whole_numbers(json::array({picked(s, "id")}), doing, "the number of a picked sample").front();
    if (!picked(s, "relative_l2").is_number())
      fail(doing, "an error of each picked sample", picked(s, "relative_l2").type_name());
    sample.relative_l2 = picked(s, "relative_l2").get<double>();
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
