#include "train/evaluation.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/error.h"

namespace lano {
namespace {

constexpr std::int64_t kBatch = 8;

nlohmann::json summary_json(const std::vector<double>& errors) {
  const ErrorSummary s = summarise(errors);
  return {{"mean", s.mean},     {"deviation", s.deviation}, {"minimum", s.minimum}, {"q25", s.q25},
          {"median", s.median}, {"q75", s.q75},             {"q95", s.q95},         {"maximum", s.maximum}};
}

std::span<const float> row(const std::vector<float>& values, std::size_t index, std::size_t size) {
  return std::span(values).subspan(index * size, size);
}

}  // namespace

Evaluation evaluate(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                    const Samples& samples) {
  if (samples.count == 0) fail("evaluating a model", "at least one sample", "none", "choose another split");
  if (samples.output.empty()) fail("evaluating a model", "a set with known output", "none", "use 'lano predict'");
  Evaluation evaluation;
  evaluation.ids = samples.ids;
  const auto start = std::chrono::steady_clock::now();
  evaluation.prediction = predict(model, normaliser, description, samples, kBatch);
  evaluation.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const auto size = static_cast<std::size_t>(samples.points * description.output_channels());
  std::vector<double> spacing;
  const bool uniform = description.geometry == Geometry::grid && samples.shared_coordinates &&
                       uniform_grid_spacing(description.shape, samples.coordinates.data(), &spacing);
  for (std::size_t s = 0; s < static_cast<std::size_t>(samples.count); ++s) {
    const auto prediction = row(evaluation.prediction, s, size), truth = row(samples.output, s, size);
    evaluation.relative_l2.push_back(relative_l2(prediction, truth));
    evaluation.max_error.push_back(max_error(prediction, truth));
    if (uniform) {
      evaluation.relative_h1.push_back(
          relative_h1(prediction, truth, description.shape, description.output_channels(), spacing));
    }
  }
  return evaluation;
}

nlohmann::json to_json(const Evaluation& e) {
  nlohmann::json out{{"samples", e.ids.size()},
                     {"relative_l2", summary_json(e.relative_l2)},
                     {"max_error", summary_json(e.max_error)},
                     {"seconds", e.seconds}};
  if (!e.relative_h1.empty()) out["relative_h1"] = summary_json(e.relative_h1);
  nlohmann::json rows = nlohmann::json::array();
  for (std::size_t s = 0; s < e.ids.size(); ++s) rows.push_back({{"id", e.ids[s]}, {"relative_l2", e.relative_l2[s]}});
  out["per_sample"] = rows;
  return out;
}

std::vector<std::size_t> picked_rows(const Evaluation& e) {
  std::vector<std::size_t> order(e.ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(e.relative_l2[a], a) < std::pair(e.relative_l2[b], b);
  });
  std::vector<std::size_t> places{0, order.size() / 2, order.size() - 1};
  places.erase(std::unique(places.begin(), places.end()), places.end());
  std::vector<std::size_t> rows;
  for (const std::size_t place : places) rows.push_back(order[place]);
  return rows;
}

void write_picked(const std::filesystem::path& path, const Evaluation& e, const Samples& samples,
                  const SetDescription& description) {
  SetDescription both = description;
  for (const FieldInfo& field : description.output) both.output.push_back({field.name + " (predicted)", field.unit});
  const std::vector<std::size_t> rows = picked_rows(e);
  nlohmann::json about{{"program", "lano train"}, {"picked", nlohmann::json::array()}};
  for (const std::size_t r : rows) about["picked"].push_back({{"id", e.ids[r]}, {"relative_l2", e.relative_l2[r]}});
  both.generator = about.dump();
  const auto points = static_cast<std::size_t>(samples.points);
  const auto du = static_cast<std::size_t>(description.output_channels());
  const auto da = static_cast<std::size_t>(description.input_channels());
  const auto dx = static_cast<std::size_t>(description.dims());
  std::span<const float> shared;
  if (samples.shared_coordinates) shared = samples.coordinates;
  DatasetWriter writer(path, both, std::vector<Split>(rows.size(), Split::test), shared);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<float> output(points * 2 * du);
    for (std::size_t p = 0; p < points; ++p) {
      for (std::size_t c = 0; c < du; ++c) {
        output[p * 2 * du + c] = samples.output[(rows[i] * points + p) * du + c];
        output[p * 2 * du + du + c] = e.prediction[(rows[i] * points + p) * du + c];
      }
    }
    const auto coords = samples.shared_coordinates ? std::span<const float>() : row(samples.coordinates, rows[i], points * dx);
    writer.write(static_cast<std::int64_t>(i), coords, row(samples.input, rows[i], points * da), output);
  }
  writer.commit();
}

}  // namespace lano
