// A model judged on a set: per-sample errors by src/metrics, their summary, and a few samples kept for pictures.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "metrics/metrics.h"
#include "train/trained_model.h"

namespace lano {

struct Evaluation {
  std::vector<std::int64_t> ids;            // samples in the file
  std::vector<double> relative_l2, relative_h1, max_error;  // one a sample; H1 empty off uniform grids
  std::vector<float> prediction;            // [S, N, du], physical
  double seconds = 0;                       // prediction alone
};

Evaluation evaluate(OperatorModel& model, const Normaliser& normaliser, const SetDescription& description,
                    const Samples& samples);

// {"samples": .., "relative_l2": {"mean": .., ...}, "per_sample": [...]}
nlohmann::json to_json(const Evaluation& evaluation);

// Best, quartiles and worst by relative L2, each once: rows of the evaluation, in rising order of error.
std::vector<std::size_t> picked_rows(const Evaluation& evaluation);

// The picked samples as a dataset whose output holds truth then prediction; a report is drawn from it.
void write_picked(const std::filesystem::path& path, const Evaluation& evaluation, const Samples& samples,
                  const SetDescription& description);

}  // namespace lano
