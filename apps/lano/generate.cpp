#include <fmt/format.h>

#include <memory>
#include <optional>

#include "command.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/threads.h"
#include "data/generation.h"
#include "edge.h"
#include "pde/burgers_problem.h"
#include "pde/darcy_problem.h"

namespace lano::cli {
namespace {

struct Options {
  std::string benchmark, out;
  std::int64_t train = 1000, test = 200, seed = 0;
  std::optional<std::int64_t> resolution, stride, frames;  // default: the benchmark's own
  double validation = 0.1;
  int threads = 0;
  bool force = false;
};

const std::vector<std::string> kBenchmarks{"darcy", "burgers"};

std::unique_ptr<Problem> make_problem(const Options& o) {
  const auto seed = static_cast<std::uint64_t>(o.seed);
  if (o.benchmark == "burgers") {
    BurgersConfig config;
    config.seed = seed;
    config.resolution = o.resolution.value_or(config.resolution);
    config.stride = o.stride.value_or(config.stride);
    config.frames = o.frames.value_or(config.frames);
    return std::make_unique<BurgersProblem>(config);
  }
  if (o.frames) fail_usage("generating darcy", "no --frames: the set is steady", std::to_string(*o.frames));
  DarcyConfig config;
  config.seed = seed;
  config.resolution = o.resolution.value_or(config.resolution);
  config.stride = o.stride.value_or(config.stride);
  return std::make_unique<DarcyProblem>(config);
}

void run(const Options& o) {
  if (std::find(kBenchmarks.begin(), kBenchmarks.end(), o.benchmark) == kBenchmarks.end()) {
    fail_usage("generating a set", fmt::format("one of the benchmarks: {}", fmt::join(kBenchmarks, ", ")),
               fmt::format("'{}'", o.benchmark), fmt::format("did you mean '{}'?", nearest(o.benchmark, kBenchmarks)));
  }
  const std::string out = o.out.empty() ? o.benchmark + ".h5" : o.out;
  refuse_to_overwrite(out, o.force);
  set_thread_count(o.threads);
  const std::unique_ptr<Problem> problem = make_problem(o);
  const SetDescription description = problem->describe();
  const Generated made = generate_dataset(out, description, make_splits(o.train, o.test, o.validation), problem->coordinates(),
                   [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem->make(i, attempt, to); }, o.force);
  fmt::print("{}: {} samples of {}{}\n", out, o.train + o.test, shape_text(description.shape),
             description.time.empty() ? "" : fmt::format(" at {} times", description.time.size()));
  if (made.resumed > 0) fmt::print("{} of them were there from a generation that was stopped\n", made.resumed);
  if (made.redrawn > 0) fmt::print("{} draws did not converge and were drawn again\n", made.redrawn);
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("generate", "make a benchmark's data set with its own solver, on every core");
  command->add_option("benchmark", options->benchmark, "darcy, or burgers (time-dependent)")->required();
  command->add_option("--out", options->out, "the file to write; default BENCHMARK.h5");
  command->add_option("--train", options->train, "training samples, validation included")->capture_default_str();
  command->add_option("--test", options->test, "test samples")->capture_default_str();
  command->add_option("--validation", options->validation, "share of the training samples kept for validation")->capture_default_str();
  command->add_option("--resolution", options->resolution, "points an axis in the solve; darcy 421, burgers 64");
  command->add_option("--stride", options->stride, "keep every stride-th point; darcy 5 (85x85), burgers 2 (32x32)");
  command->add_option("--frames", options->frames, "burgers: output times, the first at t = 0; default 11");
  command->add_option("--seed", options->seed, "sample i depends on (seed, i) alone")->capture_default_str()->check(CLI::NonNegativeNumber);
  command->add_option("--threads", options->threads, "0: all cores")->capture_default_str()->check(CLI::NonNegativeNumber);
  command->add_flag("--force", options->force, "replace an existing file");
  command->footer("Example: lano generate darcy --resolution 211 --train 1000 --test 100 --out darcy43.h5");
  command->callback([options] { run(*options); });
}

}  // namespace lano::cli
