// A model evaluated on samples: errors by src/metrics, sample by sample and in summary. What `lano eval` prints, what a
// run keeps in evaluation.json and what reports draw is this one type, which reads and writes its own JSON.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>
#include <vector>

#include "evaluate/predictor.h"
#include "metrics/metrics.h"

namespace lano {

// One kind of error over samples.
struct Measure {
  std::vector<double> per_sample;
  ErrorSummary summary;
  bool known() const { return !per_sample.empty(); }
};

struct Evaluation {
  std::vector<std::int64_t> ids;  // samples in the file
  Measure relative_l2, max_error;
  Measure relative_h1;           // of the gradient; unknown off uniform grids
  std::vector<double> step_l2;   // time-dependent datasets: mean over samples at each evaluated frame
  std::int64_t first_frame = 0;  // the frame step_l2 starts with
  double seconds = 0;            // of prediction
};

// Time-dependent datasets are evaluated over all frames that were predicted and are in the dataset, except the first if
// it was given to the model (first_frame 1).
Evaluation evaluate(const Prediction& prediction, const SetDescription& set, const Samples& samples,
                    std::int64_t first_frame);

// Predicts and evaluates.
struct Judged {
  Evaluation evaluation;
  Prediction prediction;
};
Judged judge(Predictor& predictor, const SetDescription& set, const Samples& samples, std::int64_t steps = 0);

// The same over samples of a file, read in pieces of about `bytes`; predictions are not kept.
Evaluation judge_in_pieces(Predictor& predictor, const DatasetReader& reader, std::span<const std::int64_t> ids,
                           std::int64_t bytes);

// {"samples": .., "relative_l2": {"mean": .., ...}, "per_sample": [{"id": .., "relative_l2": .., ...}]}. Numbers that
// are not finite are null in JSON and NaN here. Reading takes files of older versions, in which samples have no errors
// but relative_l2; on anything that is no evaluation it throws nlohmann::json::exception, or fails with `doing`.
nlohmann::json to_json(const Evaluation& evaluation);
Evaluation evaluation_from_json(const nlohmann::json& json, std::string_view doing);

}  // namespace lano
