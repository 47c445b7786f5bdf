#include "evaluate/shown_samples.h"

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/error.h"
#include "core/strict_json.h"

namespace lano {
namespace {

using nlohmann::json;

std::vector<float> copy(std::span<const float> values) { return {values.begin(), values.end()}; }

std::string label_of(std::size_t place, std::size_t count) {
  return count == 1 ? "sample" : place == 0 ? "best" : place + 1 == count ? "worst" : "median";
}

ShownSamples show(const SetDescription& set, const Samples& samples, const Judged& judged,
                  const std::vector<std::size_t>& rows) {
  ShownSamples shown;
  shown.set = set;
  const std::int64_t channels = set.output_channels(), last = std::min(samples.frames, judged.prediction.frames) - 1;
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const auto row = static_cast<std::int64_t>(rows[place]);
    const auto frame = static_cast<std::size_t>(samples.points_of(row) * channels),
               from = static_cast<std::size_t>(last) * frame;
    shown.samples.push_back(
        {label_of(place, rows.size()), samples.ids[rows[place]], judged.evaluation.relative_l2.per_sample[rows[place]],
         copy(samples.coordinates_of(row, set.dims())), copy(samples.input_of(row, set.input_channels())),
         copy(samples.output_of(row, channels).subspan(from, frame)),
         copy(judged.prediction.of(samples, row, channels).subspan(from, frame))});
  }
  // One cloud among others of different sizes has its own number of points.
  if (set.geometry == Geometry::points && shown.samples.size() == 1)
    shown.set.shape = {samples.points_of(static_cast<std::int64_t>(rows[0]))};
  return shown;
}

}  // namespace

std::vector<std::size_t> rows_to_show(const Evaluation& e) {
  const std::vector<double>& errors = e.relative_l2.per_sample;
  std::vector<std::size_t> order(errors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return std::pair(errors[a], a) < std::pair(errors[b], b); });
  if (order.empty()) return {};
  std::vector<std::size_t> places{0, order.size() / 2, order.size() - 1};
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::size_t> rows;
  for (const std::size_t place : places) rows.push_back(order[place]);
  return rows;
}

std::vector<std::int64_t> ids_to_show(const Evaluation& evaluation) {
  std::vector<std::int64_t> ids;
  for (const std::size_t row : rows_to_show(evaluation)) ids.push_back(evaluation.ids[row]);
  return ids;
}

ShownSamples shown_samples(const SetDescription& set, const Samples& samples, const Judged& judged) {
  return show(set, samples, judged, rows_to_show(judged.evaluation));
}

ShownSamples shown_samples(Predictor& predictor, const DatasetReader& reader, const std::vector<std::int64_t>& ids) {
  const Samples samples = reader.read(ids);
  std::vector<std::size_t> rows(ids.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  return show(reader.description(), samples, judge(predictor, reader.description(), samples), rows);
}

void write_shown(const std::filesystem::path& path, const ShownSamples& shown) {
  SetDescription both = shown.set;
  const auto dims = static_cast<std::size_t>(both.dims());
  both.kept.clear();  // the solver's further fields are not predicted
  for (const FieldInfo& field : shown.set.output) both.output.push_back({field.name + " (predicted)", field.unit});
  json about{{"program", "lano train"}, {"picked", json::array()}};
  both.time.clear();
  std::vector<std::int64_t> counts;
  bool alike = true;
  for (const ShownSample& sample : shown.samples) {
    about["picked"].push_back({{"id", sample.id}, {"relative_l2", sample.relative_l2}});
    counts.push_back(static_cast<std::int64_t>(sample.coordinates.size() / dims));
    alike = alike && counts.back() == both.points();
  }
  both.generator = about.dump();
  const std::vector<Split> splits(shown.samples.size(), Split::test);
  const auto writer = alike ? std::make_unique<DatasetWriter>(path, both, splits, std::span<const float>())
                            : std::make_unique<DatasetWriter>(path, both, splits, counts);
  const auto du = static_cast<std::ptrdiff_t>(shown.set.output_channels());
  for (std::size_t i = 0; i < shown.samples.size(); ++i) {
    const ShownSample& sample = shown.samples[i];
    std::vector<float> output;
    for (auto t = sample.truth.begin(), p = sample.prediction.begin(); t != sample.truth.end(); t += du, p += du) {
      output.insert(output.end(), t, t + du);
      output.insert(output.end(), p, p + du);
    }
    writer->write(static_cast<std::int64_t>(i), sample.coordinates, sample.input, output);
  }
  writer->commit();
}

ShownSamples read_shown(const std::filesystem::path& path) {
  ShownSamples shown;
  const DatasetReader reader(path);
  const Samples samples = reader.read(reader.indices("all"));
  const SetDescription& both = reader.description();
  shown.set = both;
  const std::string doing = "reading '" + path.string() + "'";
  if (both.output_channels() < 2 || both.output_channels() % 2 != 0) {
    fail(doing, "truth and prediction of each field", std::to_string(both.output_channels()) + " channels",
         "the file is not one of lano train's");
  }
  const auto du = static_cast<std::size_t>(both.output_channels() / 2);
  shown.set.output.resize(du);
  const json made_by = parse_json(both.generator, doing, "the attribute generator");
  const auto picked = [&](std::int64_t s, const char* key) -> const json& {
    try {
      return made_by.at("picked").at(static_cast<std::size_t>(s)).at(key);
    } catch (const json::exception& error) {
      fail(doing, "the picked samples in the attribute generator", json_reason(error),
           "the file is not one of lano train's");
    }
  };
  for (std::int64_t s = 0; s < samples.count; ++s) {
    ShownSample sample;
    sample.label = label_of(static_cast<std::size_t>(s), static_cast<std::size_t>(samples.count));
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
    shown.samples.push_back(std::move(sample));
  }
  return shown;
}

}  // namespace lano
