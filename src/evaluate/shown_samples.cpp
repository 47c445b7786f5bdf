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
  shown.times = set.time;
  const std::int64_t channels = set.output_channels();
  const std::vector<std::int64_t> frames =
      frames_to_show(std::min(samples.frames, judged.prediction.frames), set.points());
  if (!set.time.empty()) {
    shown.set.time.clear();
    for (const std::int64_t frame : frames) shown.set.time.push_back(set.time[static_cast<std::size_t>(frame)]);
    // Of those shown: the numbers of the whole dataset would point beyond them.
    const auto given =
        std::count_if(frames.begin(), frames.end(), [&](auto frame) { return frame < set.given_frames; });
    shown.set.given_frames = std::max<std::int64_t>(1, given);
  }
  for (std::size_t place = 0; place < rows.size(); ++place) {
    const auto row = static_cast<std::int64_t>(rows[place]);
    const auto size = static_cast<std::size_t>(samples.points_of(row) * channels);
    ShownSample sample;
    sample.label = label_of(place, rows.size());
    sample.id = samples.ids[rows[place]];
    sample.relative_l2 = judged.evaluation.relative_l2.per_sample[rows[place]];
    sample.coordinates = copy(samples.coordinates_of(row, set.dims()));
    sample.input = copy(samples.input_of(row, set.input_channels()));
    const auto truth = samples.output_of(row, channels), prediction = judged.prediction.of(samples, row, channels);
    for (const std::int64_t frame : frames) {
      const auto now = truth.subspan(static_cast<std::size_t>(frame) * size, size),
                 told = prediction.subspan(static_cast<std::size_t>(frame) * size, size);
      sample.truth.insert(sample.truth.end(), now.begin(), now.end());
      sample.prediction.insert(sample.prediction.end(), told.begin(), told.end());
    }
    shown.samples.push_back(std::move(sample));
  }
  // One cloud among others of different sizes has its own number of points.
  if (set.geometry == Geometry::points && shown.samples.size() == 1)
    shown.set.shape = {samples.points_of(static_cast<std::int64_t>(rows[0]))};
  return shown;
}

}  // namespace

std::vector<std::int64_t> frames_to_show(std::int64_t frames, std::int64_t points) {
  constexpr std::int64_t kNumbers = 100000, kFrames = 20;
  const std::int64_t count = frames * points <= kNumbers ? frames : std::min(frames, kFrames);
  std::vector<std::int64_t> shown;
  for (std::int64_t i = 0; i < count; ++i)
    shown.push_back(count == 1 ? frames - 1 : (i * (frames - 1) + (count - 1) / 2) / (count - 1));
  return shown;
}

ShownSamples at_last_frame(ShownSamples shown) {
  const std::size_t frames = std::max<std::size_t>(1, shown.set.time.size());
  for (ShownSample& sample : shown.samples) {
    for (std::vector<float>* values : {&sample.truth, &sample.prediction})
      values->erase(values->begin(), values->end() - static_cast<std::ptrdiff_t>(values->size() / frames));
  }
  shown.set.time.clear();
  shown.set.given_frames = 1;
  return shown;
}

void add_cells(ShownSamples& shown, const DatasetReader& reader) {
  shown.cell_kind = reader.cell_kind();
  for (ShownSample& sample : shown.samples) {
    if (shown.cell_kind) sample.cells = reader.read_cells(sample.id);
  }
}

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
  ShownSamples shown = show(reader.description(), samples, judge(predictor, reader.description(), samples), rows);
  add_cells(shown, reader);
  return shown;
}

void write_shown(const std::filesystem::path& path, const ShownSamples& shown) {
  SetDescription both = shown.set;
  const auto dims = static_cast<std::size_t>(both.dims());
  both.kept.clear();  // the solver's further fields are not predicted
  for (const FieldInfo& field : shown.set.output) both.output.push_back({field.name + " (predicted)", field.unit});
  json about{{"program", "lano train"}, {"picked", json::array()}};
  constexpr std::size_t kMostTimes = 2000;  // an attribute holds 64 KB; beyond them frames are counted
  if (!shown.times.empty() && shown.times.size() <= kMostTimes) about["times"] = shown.times;
  std::vector<std::int64_t> counts, cell_counts;
  bool alike = true;
  for (const ShownSample& sample : shown.samples) {
    about["picked"].push_back({{"id", sample.id}, {"relative_l2", sample.relative_l2}});
    counts.push_back(static_cast<std::int64_t>(sample.coordinates.size() / dims));
    alike = alike && counts.back() == both.points();
    if (shown.cell_kind)
      cell_counts.push_back(static_cast<std::int64_t>(sample.cells.size()) / cell_corners(*shown.cell_kind));
  }
  both.generator = about.dump();
  const std::vector<Split> splits(shown.samples.size(), Split::test);
  const auto writer = alike ? std::make_unique<DatasetWriter>(path, both, splits, std::span<const float>())
                            : std::make_unique<DatasetWriter>(path, both, splits, counts);
  if (shown.cell_kind) writer->make_cells(*shown.cell_kind, cell_counts);
  const auto du = static_cast<std::ptrdiff_t>(shown.set.output_channels());
  for (std::size_t i = 0; i < shown.samples.size(); ++i) {
    const ShownSample& sample = shown.samples[i];
    std::vector<float> output;
    for (auto t = sample.truth.begin(), p = sample.prediction.begin(); t != sample.truth.end(); t += du, p += du) {
      output.insert(output.end(), t, t + du);
      output.insert(output.end(), p, p + du);
    }
    writer->write(static_cast<std::int64_t>(i), sample.coordinates, sample.input, output);
    if (shown.cell_kind) writer->write_cells(static_cast<std::int64_t>(i), sample.cells);
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
      fail(doing, "the chosen samples in the attribute generator", json_reason(error),
           "the file is not one of lano train's");
    }
  };
  if (made_by.is_object() && made_by.contains("times")) {
    try {
      shown.times = made_by["times"].get<std::vector<double>>();
    } catch (const json::exception& error) {
      fail(doing, "the times of the dataset", json_reason(error), "the file is not one of lano train's");
    }
  }
  shown.cell_kind = reader.cell_kind();
  for (std::int64_t s = 0; s < samples.count; ++s) {
    ShownSample sample;
    sample.label = label_of(static_cast<std::size_t>(s), static_cast<std::size_t>(samples.count));
    sample.id = whole_numbers(json::array({picked(s, "id")}), doing, "the number of a chosen sample").front();
    if (!picked(s, "relative_l2").is_number())
      fail(doing, "an error of each chosen sample", picked(s, "relative_l2").type_name());
    sample.relative_l2 = picked(s, "relative_l2").get<double>();
    sample.coordinates = copy(samples.coordinates_of(s, both.dims()));
    sample.input = copy(samples.input_of(s, both.input_channels()));
    const auto output = samples.output_of(s, both.output_channels());
    for (std::size_t at = 0; at < output.size(); at += 2 * du) {
      const auto point = output.subspan(at, 2 * du);
      sample.truth.insert(sample.truth.end(), point.begin(), point.begin() + static_cast<std::ptrdiff_t>(du));
      sample.prediction.insert(sample.prediction.end(), point.begin() + static_cast<std::ptrdiff_t>(du), point.end());
    }
    if (shown.cell_kind) sample.cells = reader.read_cells(s);
    shown.samples.push_back(std::move(sample));
  }
  return shown;
}

}  // namespace lano
