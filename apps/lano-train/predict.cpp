// Prediction by LibTorch: the composite reference, and models the runtime does not know. `lano predict` itself needs neither.
#include <chrono>

#include "command.h"
#include "prediction_files.h"
#include "run_options.h"
#include "train/trained_model.h"

namespace lano::cli {
namespace {

void run(const PredictOptions& o) {
  use_threads(o.threads);
  check_predict_options(o);
  TrainedModel trained = load_trained_model(o.model);
  const Query query = read_query(o, trained.file);
  choose_agents(*trained.model, o.agents);
  choose_engine(*trained.model, o.engine);
  const auto start = std::chrono::steady_clock::now();
  const Prediction prediction = predict(*trained.model, trained.file.normaliser, query.set, query.samples, 8, o.steps);
  write_prediction(o, query, prediction, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_predict(CLI::App& app) {
  auto o = std::make_shared<PredictOptions>();
  add_predict_word(app, o)->callback([o] { run(*o); });
}

}  // namespace lano::cli
