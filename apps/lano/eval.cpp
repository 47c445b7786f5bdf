#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "evaluate/loaded_model.h"
#include "evaluate/set_fit.h"
#include "evaluate/shown_samples.h"
#include "evaluate/simple_baselines.h"
#include "pictures.h"
#include "run_options.h"
#include "train/split_survey.h"

namespace lano::cli {
namespace {

struct EvalOptions {
  std::string model, data, split = "test", picture, animation;
  bool json = false;
  int threads = 0;
  std::string engine = "fused", device = "cpu";
  std::int64_t agents = 0, steps = 0;
};

void print_line(const char* label, const ErrorSummary& s) {
  fmt::print("{:<22} mean {:.4e}  deviation {:.2e}  median {:.4e}  95 % {:.4e}  worst {:.4e}\n", label, s.mean,
             s.deviation, s.median, s.q95, s.maximum);
}

void run_eval(const EvalOptions& o, const Program& program) {
  choose_device(program, o.device);
  const bool composite = o.engine == "composite" || o.device != "cpu";
  ModelFile file = read_model_file(o.model);
  program.need_torch(needs_torch(file, composite));
  program.use_threads(o.threads);
  LoadedModel model = load_model(std::move(file), fmt::format("reading model '{}'", o.model), composite);
  const DatasetReader reader = open_dataset(o.data, model.predictor->task());
  check_fits(model.about.set, reader.description(), fmt::format("evaluating '{}' on '{}'", o.model, o.data));
  const Samples samples = reader.read(reader.indices(std::string_view(o.split)));
  choose_agents(*model.predictor, o.agents);
  const SetDescription& set = reader.description();
  const Judged judged = judge(*model.predictor, set, samples, o.steps);
  const Evaluation& evaluation = judged.evaluation;
  if (!o.picture.empty() || !o.animation.empty()) {
    ShownSamples shown = shown_samples(set, samples, judged);
    add_cells(shown, reader);
    write_judged_pictures(shown, o.picture, o.animation);
  }
  if (o.json) {
    fmt::print("{}\n", to_json(evaluation).dump());
    return;
  }
  fmt::print("{} on {} ({} samples of {}, split {})\n", o.model, o.data, samples.count, shape_text(set.shape), o.split);
  print_line("relative L2", evaluation.relative_l2.summary);
  if (evaluation.relative_h1.known()) print_line("relative L2, gradient", evaluation.relative_h1.summary);
  print_line("largest error", evaluation.max_error.summary);
  for (std::size_t t = 0; t < evaluation.step_l2.size(); ++t) {
    const auto frame = static_cast<std::size_t>(evaluation.first_frame) + t;
    fmt::print("  frame {:>3}, t = {:<10.4g} relative L2 {:.4e}\n", frame, set.time[frame], evaluation.step_l2[t]);
  }
  if (judged.prediction.frames > samples.frames) {
    fmt::print("  rolled out to frame {}; the dataset has {}\n", judged.prediction.frames - 1, samples.frames - 1);
  }
  // Fitted on the dataset's own training samples; the samples evaluated must not be among them.
  const TrainOn learned = trained_on(model.about.provenance);
  const std::vector<std::int64_t> train = training_ids(reader, learned);
  const bool held_out = o.split == "test" || (o.split == "validation" && learned == TrainOn::train);
  if (!train.empty() && held_out && o.steps == 0) {
    const std::vector<std::int64_t> ids = reader.indices(std::string_view(o.split));
    print_baselines(SimpleBaselines(reader, train, model.predictor->given_frames(set)).judge(reader, ids),
                    evaluation.relative_l2.summary.mean);
  }
  if (o.split == "validation" && learned == TrainOn::train_and_validation)
    fmt::print("the model was trained on its validation split (data.train_on): evaluate it on test\n");
  fmt::print("prediction             {:.2f} ms per sample\n",
             1e3 * evaluation.seconds / static_cast<double>(samples.count));
}

}  // namespace

void add_eval(CLI::App& app, const Program& program) {
  auto o = std::make_shared<EvalOptions>();
  CLI::App* command = app.add_subcommand("eval", "evaluate a model on a dataset");
  command->add_option("model", o->model, "the model file")->required();
  command->add_option("--data", o->data, "the dataset file")->required();
  command->add_option("--split", o->split, "train, validation, test or all")->capture_default_str();
  command
      ->add_option("--steps", o->steps,
                   "autoregressive models: number of steps of a free roll-out, 0: all frames of the dataset")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--agents", o->agents, "use another number of agent tokens than in training")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--picture", o->picture,
                      "also write this PNG: best, median and worst sample as input | truth | prediction | error");
  command->add_option(
      "--animation", o->animation,
      "datasets with time: also write this animated PNG: the median sample as truth | prediction | error");
  command->add_flag("--json", o->json, "one JSON object with every sample's error");
  command->add_option("--engine", o->engine, "fused kernels, or composite: plain LibTorch calls, the reference")
      ->check(CLI::IsMember({"fused", "composite"}))
      ->capture_default_str();
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
  add_device_option(command, o->device);
  command->footer("Example: lano eval runs/darcy/model.safetensors --data darcy.h5 --split test");
  command->callback([o, program] { run_eval(*o, program); });
}

}  // namespace lano::cli
