// A model judged on a set: per-sample errors by src/metrics, their summary, and a few samples kept for pictures.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "evaluate/prediction.h"
#include "metrics/metrics.h"

namespace lano {

struct Evaluation {
  std::vector<std::int64_t> ids;                            // samples in the file
  std::vector<double> relative_l2, relative_h1, max_error;  // one a sample; H1 empty off uniform grids
  std::vector<double> step_l2;   // time-dependent sets: mean over samples at each judged frame
  std::int64_t first_frame = 0;  // the frame step_l2 starts with
  Prediction prediction;
  double seconds = 0;  // prediction alone
};

// Time-dependent sets are judged over all frames a model predicts and the set knows; an autoregressive model steps
// freely from the first, `steps` times (0: as many as the set has frames).
Evaluation evaluate(Predictor& predictor, const SetDescription& description, const Samples& samples,
                    std::int64_t steps = 0);

// The same over samples of a file, read in pieces of about `bytes`; predictions are not kept.
Evaluation evaluate_in_pieces(Predictor& predictor, const DatasetReader& reader, std::span<const std::int64_t> ids,
                              std::int64_t bytes);

// {"samples": .., "relative_l2": {"mean": .., ...}, "per_sample": [...]}
nlohmann::json to_json(const Evaluation& evaluation);

// Best, quartiles and worst by relative L2, each once: rows of the evaluation, in rising order of error.
std::vector<std::size_t> picked_rows(const Evaluation& evaluation);

// The picked samples as a dataset whose output holds truth then prediction (of the last judged frame); a report is
// drawn from it.
void write_picked(const std::filesystem::path& path, const Evaluation& evaluation, const Samples& samples,
                  const SetDescription& description);

}  // namespace lano
