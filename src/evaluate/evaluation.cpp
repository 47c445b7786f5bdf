#include "evaluate/evaluation.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strict_json.h"
#include "data/sample_feed.h"

namespace lano {
namespace {

using nlohmann::json;

double number(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

constexpr std::pair<const char*, double ErrorSummary::*> kParts[] = {
    {"mean", &ErrorSummary::mean}, {"deviation", &ErrorSummary::deviation}, {"minimum", &ErrorSummary::minimum},
    {"q25", &ErrorSummary::q25},   {"median", &ErrorSummary::median},       {"q75", &ErrorSummary::q75},
    {"q95", &ErrorSummary::q95},   {"maximum", &ErrorSummary::maximum}};

json to_json(const ErrorSummary& summary) {
  json out;
  for (const auto& [name, part] : kParts) out[name] = summary.*part;
  return out;
}

// The errors of each kind under their names in the file.
constexpr std::pair<const char*, Measure Evaluation::*> kMeasures[] = {{"relative_l2", &Evaluation::relative_l2},
                                                                       {"max_error", &Evaluation::max_error},
                                                                       {"relative_h1", &Evaluation::relative_h1}};

void summarise_all(Evaluation& evaluation) {
  for (const auto& [name, member] : kMeasures) {
    Measure& measure = evaluation.*member;
    if (measure.known()) measure.summary = summarise(measure.per_sample);
  }
}

}  // namespace

Evaluation evaluate(const Prediction& prediction, const SetDescription& set, const Samples& samples,
                    std::int64_t first_frame) {
  if (samples.count == 0) fail_plainly("evaluating a model", "there are no samples", "choose another split");
  if (samples.output.empty())
    fail_plainly("evaluating a model", "the dataset has no output to compare with", "use 'lano predict'");
  Evaluation evaluation;
  evaluation.ids = samples.ids;
  evaluation.first_frame = first_frame;
  std::vector<double> spacing;
  const bool uniform = set.geometry == Geometry::grid && set.time.empty() && samples.on_one_mesh() &&
                       uniform_grid_spacing(set.shape, samples.coordinates, &spacing);
  const std::int64_t known = std::min(samples.frames, prediction.frames), channels = set.output_channels();
  if (known <= first_frame) {
    fail("evaluating a model", "at least one frame after the first", std::to_string(samples.frames),
         "use a dataset with more frames");
  }
  if (!set.time.empty()) evaluation.step_l2.resize(static_cast<std::size_t>(known - first_frame));
  for (std::int64_t s = 0; s < samples.count; ++s) {
    const std::int64_t frame = samples.points_of(s) * channels;
    const auto from = static_cast<std::size_t>(first_frame * frame);
    const auto judged = static_cast<std::size_t>((known - first_frame) * frame);
    const auto predicted = prediction.of(samples, s, channels).subspan(from, judged);
    const auto truth = samples.output_of(s, channels).subspan(from, judged);
    evaluation.relative_l2.per_sample.push_back(relative_l2(predicted, truth));
    evaluation.max_error.per_sample.push_back(max_error(predicted, truth));
    if (uniform)
      evaluation.relative_h1.per_sample.push_back(relative_h1(predicted, truth, set.shape, channels, spacing));
    for (std::size_t t = 0; t < evaluation.step_l2.size(); ++t) {
      const auto size = static_cast<std::size_t>(frame);
      evaluation.step_l2[t] += relative_l2(predicted.subspan(t * size, size), truth.subspan(t * size, size)) /
                               static_cast<double>(samples.count);
    }
  }
  summarise_all(evaluation);
  return evaluation;
}

Judged judge(Predictor& predictor, const SetDescription& set, const Samples& samples, std::int64_t steps) {
  Judged judged;
  const auto start = std::chrono::steady_clock::now();
  judged.prediction = predictor.predict(set, samples, steps);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  judged.evaluation = evaluate(judged.prediction, set, samples, predictor.given_frames(set));
  judged.evaluation.seconds = seconds;
  return judged;
}

Evaluation judge_in_pieces(Predictor& predictor, const DatasetReader& reader, std::span<const std::int64_t> ids,
                           std::int64_t bytes) {
  Evaluation all;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  read_in_pieces(reader, ids, bytes, [&](const Samples& samples) {
    const Evaluation piece = judge(predictor, reader.description(), samples).evaluation;
    append(all.ids, piece.ids);
    for (const auto& [name, member] : kMeasures) append((all.*member).per_sample, (piece.*member).per_sample);
    all.step_l2.resize(piece.step_l2.size());
    for (std::size_t t = 0; t < piece.step_l2.size(); ++t) {
      all.step_l2[t] += piece.step_l2[t] * static_cast<double>(samples.count) / static_cast<double>(ids.size());
    }
    all.first_frame = piece.first_frame;
    all.seconds += piece.seconds;
  });
  summarise_all(all);
  return all;
}

json to_json(const Evaluation& e) {
  json out{{"samples", e.ids.size()}, {"seconds", e.seconds}};
  json rows = json::array();
  for (const std::int64_t id : e.ids) rows.push_back({{"id", id}});
  for (const auto& [name, member] : kMeasures) {
    const Measure& measure = e.*member;
    if (!measure.known()) continue;
    out[name] = to_json(measure.summary);
    for (std::size_t s = 0; s < rows.size(); ++s) rows[s][name] = measure.per_sample[s];
  }
  if (!e.step_l2.empty()) out["per_step"] = {{"first_frame", e.first_frame}, {"relative_l2", e.step_l2}};
  out["per_sample"] = rows;
  return out;
}

Evaluation evaluation_from_json(const json& from, std::string_view doing) {
  Evaluation e;
  e.seconds = from.contains("seconds") ? number(from["seconds"]) : 0;
  for (const auto& [name, member] : kMeasures) {
    if (!from.contains(name)) continue;
    for (const auto& [part, place] : kParts) {
      const json& summary = from[name];
      (e.*member).summary.*place = summary.contains(part) ? number(summary.at(part)) : std::nan("");
    }
  }
  (void)from.at("relative_l2").at("mean");
  for (const json& row : from.value("per_sample", json::array())) {
    e.ids.push_back(whole_number(row.at("id"), doing, "the number of a sample"));
    for (const auto& [name, member] : kMeasures) {
      if (row.contains(name)) (e.*member).per_sample.push_back(number(row[name]));
    }
  }
  for (const auto& [name, member] : kMeasures) {
    std::vector<double>& errors = (e.*member).per_sample;
    if (errors.size() != e.ids.size()) errors.clear();
  }
  if (from.contains("per_step")) {
    e.first_frame = whole_number(from["per_step"].at("first_frame"), doing, "the first frame");
    for (const json& value : from["per_step"].at("relative_l2")) e.step_l2.push_back(number(value));
  }
  return e;
}

}  // namespace lano
