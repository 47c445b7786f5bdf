// Prediction by the runtime, without LibTorch; the composite engine and other operators by LibTorch.
#include <fmt/format.h>

#include <chrono>

#include "command.h"
#include "evaluate/loaded_model.h"
#include "prediction_files.h"
#include "run_options.h"

namespace lano::cli {
namespace {

void run_predict(const PredictOptions& o, const Program& program) {
  check_predict_options(o);
  choose_device(program, o.device);
  const bool composite = o.engine == "composite" || o.device != "cpu";
  ModelFile file = read_model_file(o.model);
  program.need_torch(needs_torch(file, composite));
  program.use_threads(o.threads);
  const Query query = read_query(o, file);
  LoadedModel model = load_model(std::move(file), fmt::format("reading model '{}'", o.model), composite);
  choose_agents(*model.predictor, o.agents);
  const auto start = std::chrono::steady_clock::now();
  const Prediction prediction = model.predictor->predict(query.set, query.samples, o.steps);
  write_prediction(o, query, prediction,
                   std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_predict(CLI::App& app, const Program& program) {
  auto o = std::make_shared<PredictOptions>();
  add_predict_word(app, o)->callback([o, program] { run_predict(*o, program); });
}

}  // namespace lano::cli
