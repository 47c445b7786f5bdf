// Prediction by the runtime: no LibTorch is loaded. The composite engine, and models the runtime does not know, go to lano-train.
#include <fmt/format.h>

#include <chrono>

#include "command.h"
#include "core/error.h"
#include "core/threads.h"
#include "prediction_files.h"
#include "runtime/operator.h"

namespace lano::cli {
namespace {

// All frames of one sample behind each other: one of a steady model; every time of the set; or the first state and the steps from it.
void predict_sample(const Operator& op, const Query& q, std::int64_t i, std::int64_t frames, std::span<float> to) {
  const SetDescription& set = q.set;
  const Samples& s = q.samples;
  const auto coordinates = s.coordinates_of(i, set.dims()), input = s.input_of(i, set.input_channels());
  const std::size_t size = to.size() / static_cast<std::size_t>(frames);
  Operator::Call call;
  if (set.geometry != Geometry::points) call.mesh = set.shape;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    const auto out = to.subspan(static_cast<std::size_t>(frame) * size, size);
    if (op.task() == Task::time_conditional) call.time = set.time[static_cast<std::size_t>(frame)];
    if (op.task() == Task::autoregressive) {
      if (frame == 0) {
        const auto first = s.output_of(i, set.output_channels()).first(size);
        std::copy(first.begin(), first.end(), out.begin());
        continue;
      }
      call.state = to.subspan(static_cast<std::size_t>(frame - 1) * size, size);
    }
    op.predict(coordinates, input, out, call);
  }
}

void run(const PredictOptions& o, int argc, char** argv) {
  check_predict_options(o);
  ModelFile file = read_model_file(o.model);
  if (o.engine == "composite" || file.architecture.value("name", "") != "lano") hand_to_lano_train(argc, argv);
  set_thread_count(o.threads);
  const Query query = read_query(o, file);
  Operator op(std::move(file));
  if (o.agents > 0) {
    const std::int64_t used = op.use_agents(o.agents);
    fmt::print(stderr, "using {} agents{}\n", used, used == o.agents ? "" : fmt::format(": the nearest good patch grid to {}", o.agents));
  }
  const Samples& s = query.samples;
  if (op.task() == Task::autoregressive && s.output.empty()) {
    fail("predicting", "a set whose output holds the first state", "no output", "an autoregressive model steps from it");
  }
  const std::int64_t channels = query.set.output_channels();
  Prediction prediction;
  if (op.task() == Task::time_conditional) prediction.frames = s.frames;
  if (op.task() == Task::autoregressive) prediction.frames = 1 + (o.steps > 0 ? o.steps : s.frames - 1);
  prediction.values.resize(static_cast<std::size_t>(s.first_point(s.count) * prediction.frames * channels));
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < s.count; ++i) {
    const std::int64_t width = prediction.frames * channels;
    predict_sample(op, query, i, prediction.frames,
                   std::span(prediction.values).subspan(static_cast<std::size_t>(s.first_point(i) * width), static_cast<std::size_t>(s.points_of(i) * width)));
  }
  write_prediction(o, query, prediction, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
}

}  // namespace

void add_predict(CLI::App& app, int argc, char** argv) {
  auto o = std::make_shared<PredictOptions>();
  add_predict_word(app, o)->callback([o, argc, argv] { run(*o, argc, argv); });
}

}  // namespace lano::cli
