// What `lano predict` reads and writes, whichever engine computes: a dataset or arrays in; .h5, .npy, .vts or .vtu out.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "evaluate/predictor.h"
#include "runtime/model_file.h"

namespace lano::cli {

struct PredictOptions {
  std::string model, data, input, coords, out, split = "all";
  std::vector<std::int64_t> samples;
  bool force = false;
  int threads = 0;
  std::string engine = "fused", device = "cpu";
  std::int64_t agents = 0, steps = 0;
};

// The word and its options; what it runs is set by the caller.
CLI::App* add_predict_word(CLI::App& app, const std::shared_ptr<PredictOptions>& options);

// Refuses what can be refused before a model is read: an unknown ending, a file that exists.
void check_predict_options(const PredictOptions& options);

struct Query {
  SetDescription set;
  Samples samples;
};

Query read_query(const PredictOptions& options, const ModelFile& model);

// Writes the prediction and prints a line with its time and points a second.
void write_prediction(const PredictOptions& options, const Query& query, const Prediction& prediction, double seconds);

}  // namespace lano::cli
