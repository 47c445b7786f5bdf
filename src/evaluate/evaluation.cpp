#include "evaluate/evaluation.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>

#include "core/error.h"
#include "data/sample_feed.h"

namespace lano {
namespace {

nlohmann::json summary_json(const std::vector<double>& errors) {
  const ErrorSummary s = summarise(errors);
  return {{"mean", s.mean}, {"deviation", s.deviation}, {"minimum", s.minimum},
          {"q25", s.q25},   {"median", s.median},       {"q75", s.q75},
          {"q95", s.q95},   {"maximum", s.maximum}};
}

}  // namespace

Evaluation evaluate(Predictor& predictor, const SetDescription& description, const Samples& samples,
                    std::int64_t steps) {
  if (samples.count == 0) fail("evaluating a model", "at least one sample", "none", "choose another split");
  if (samples.output.empty()) fail("evaluating a model", "a set with known output", "none", "use 'lano predict'");
  Evaluation evaluation;
  evaluation.ids = samples.ids;
  const auto start = std::chrono::steady_clock::now();
  evaluation.prediction = predict(predictor, description, samples, steps);
  evaluation.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double> spacing;
  const bool uniform = description.geometry == Geometry::grid && description.time.empty() && samples.on_one_mesh() &&
                       uniform_grid_spacing(description.shape, samples.coordinates, &spacing);
  // The first frame of an autoregressive model is given to it, not predicted.
  evaluation.first_frame = predictor.task() == Task::autoregressive ? 1 : 0;
  const std::int64_t known = std::min(samples.frames, evaluation.prediction.frames),
                     channels = description.output_channels();
  if (known <= evaluation.first_frame) {
    fail("evaluating a model", "at least one frame behind the first", std::to_string(samples.frames),
         "use a longer set");
  }
  if (!description.time.empty()) evaluation.step_l2.resize(static_cast<std::size_t>(known - evaluation.first_frame));
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const std::int64_t frame = samples.points_of(s) * channels;
    const auto from = static_cast<std::size_t>(evaluation.first_frame * frame);
    const auto judged = static_cast<std::size_t>((known - evaluation.first_frame) * frame);
    const auto predicted = evaluation.prediction.of(samples, s, channels).subspan(from, judged);
    const auto truth = samples.output_of(s, channels).subspan(from, judged);
    evaluation.relative_l2.push_back(relative_l2(predicted, truth));
    evaluation.max_error.push_back(max_error(predicted, truth));
    if (uniform) evaluation.relative_h1.push_back(relative_h1(predicted, truth, description.shape, channels, spacing));
    for (std::size_t t = 0; t < evaluation.step_l2.size(); ++t) {
      const auto size = static_cast<std::size_t>(frame);
      evaluation.step_l2[t] += relative_l2(predicted.subspan(t * size, size), truth.subspan(t * size, size)) /
                               static_cast<double>(samples.count);
    }
  }
  return evaluation;
}

Evaluation evaluate_in_pieces(Predictor& predictor, const DatasetReader& reader, std::span<const std::int64_t> ids,
                              std::int64_t bytes) {
  Evaluation all;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  read_in_pieces(reader, ids, bytes, [&](const Samples& samples) {
    const Evaluation piece = evaluate(predictor, reader.description(), samples);
    append(all.ids, piece.ids);
    append(all.relative_l2, piece.relative_l2);
    append(all.relative_h1, piece.relative_h1);
    append(all.max_error, piece.max_error);
    all.step_l2.resize(piece.step_l2.size());
    for (std::size_t t = 0; t < piece.step_l2.size(); ++t) {
      all.step_l2[t] += piece.step_l2[t] * static_cast<double>(samples.count) / static_cast<double>(ids.size());
    }
    all.first_frame = piece.first_frame;
    all.prediction.frames = piece.prediction.frames;
    all.seconds += piece.seconds;
  });
  return all;
}

nlohmann::json to_json(const Evaluation& e) {
  nlohmann::json out{{"samples", e.ids.size()},
                     {"relative_l2", summary_json(e.relative_l2)},
                     {"max_error", summary_json(e.max_error)},
                     {"seconds", e.seconds}};
  if (!e.relative_h1.empty()) out["relative_h1"] = summary_json(e.relative_h1);
  if (!e.step_l2.empty()) out["per_step"] = {{"first_frame", e.first_frame}, {"relative_l2", e.step_l2}};
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
  both.time.clear();
  both.kept.clear();  // the solver's further fields are not predicted
  for (const FieldInfo& field : description.output) both.output.push_back({field.name + " (predicted)", field.unit});
  const std::vector<std::size_t> rows = picked_rows(e);
  const std::int64_t last = std::min(samples.frames, e.prediction.frames) - 1;
  nlohmann::json about{{"program", "lano train"}, {"picked", nlohmann::json::array()}};
  std::vector<std::int64_t> counts;
  for (const std::size_t r : rows) {
    about["picked"].push_back({{"id", e.ids[r]}, {"relative_l2", e.relative_l2[r]}});
    if (!samples.counts.empty()) counts.push_back(samples.counts[r]);
  }
  if (!description.time.empty()) about["frame"] = last;
  both.generator = about.dump();
  const auto du = static_cast<std::size_t>(description.output_channels());
  std::span<const float> shared;
  if (samples.shared_coordinates) shared = samples.coordinates;
  const std::vector<Split> splits(rows.size(), Split::test);
  const auto writer = counts.empty() ? std::make_unique<DatasetWriter>(path, both, splits, shared)
                                     : std::make_unique<DatasetWriter>(path, both, splits, counts);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto row = static_cast<std::int64_t>(rows[i]);
    const auto points = static_cast<std::size_t>(samples.points_of(row));
    const auto from = static_cast<std::size_t>(last) * points * du;
    const auto truth = samples.output_of(row, description.output_channels()).subspan(from, points * du);
    const auto predicted = e.prediction.of(samples, row, description.output_channels()).subspan(from, points * du);
    std::vector<float> output(points * 2 * du);
    for (std::size_t p = 0; p < points; ++p) {
      for (std::size_t c = 0; c < du; ++c) {
        output[p * 2 * du + c] = truth[p * du + c];
        output[p * 2 * du + du + c] = predicted[p * du + c];
      }
    }
    const auto coords =
        samples.shared_coordinates ? std::span<const float>() : samples.coordinates_of(row, description.dims());
    writer->write(static_cast<std::int64_t>(i), coords, samples.input_of(row, description.input_channels()), output);
  }
  writer->commit();
}

}  // namespace lano
