#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>

#include "command.h"
#include "console.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/threads.h"
#include "data/generation.h"
#include "edge.h"
#include "pde/airfoil_problem.h"
#include "pde/burgers_problem.h"
#include "pde/darcy_problem.h"
#include "pde/elasticity_problem.h"
#include "pde/navier_stokes_problem.h"
#include "pde/pipe_problem.h"
#include "pde/plasticity_problem.h"
#include "pde/strided_problem.h"

namespace lano::cli {
namespace {

struct GenerateOptions {
  std::string benchmark, out, medium = "two-values", covariance = "printed", preset;
  std::optional<std::int64_t> train, test, resolution, stride, frames;  // default: the preset's
  std::optional<double> viscosity;
  std::int64_t seed = 0;
  double validation = 0.1;
  int threads = 0;
  bool force = false;
};

// Samples of a dataset, for training (validation included) and for the test.
struct Sizes {
  std::int64_t train, test;
};

// A benchmark for this command: its options, and its sizes in the paper and in a smoke test.
struct Benchmark {
  std::string_view name, options;
  Sizes paper, smoke;
  std::unique_ptr<Problem> (*make)(const GenerateOptions& o, bool smoke);
};

std::unique_ptr<Problem> make_darcy(const GenerateOptions& o, bool smoke) {
  DarcyConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  c.resolution = o.resolution.value_or(smoke ? 85 : c.resolution);
  c.stride = o.stride.value_or(smoke ? 4 : c.stride);
  if (o.medium == "lognormal") c.field.medium = DarcyMedium::lognormal;
  return std::make_unique<DarcyProblem>(c);
}

std::unique_ptr<Problem> make_burgers(const GenerateOptions& o, bool) {
  BurgersConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  c.resolution = o.resolution.value_or(c.resolution);
  c.stride = o.stride.value_or(c.stride);
  c.frames = o.frames.value_or(c.frames);
  c.viscosity = o.viscosity.value_or(c.viscosity);
  return std::make_unique<BurgersProblem>(c);
}

std::unique_ptr<Problem> make_navier_stokes(const GenerateOptions& o, bool smoke) {
  NavierStokesConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  c.resolution = o.resolution.value_or(smoke ? 32 : c.resolution);
  c.stride = o.stride.value_or(c.stride);
  c.frames = o.frames.value_or(c.frames);
  c.viscosity = o.viscosity.value_or(smoke ? 1e-3 : c.viscosity);
  if (o.covariance == "program") c.scale = VorticityScale::program;
  return std::make_unique<NavierStokesProblem>(c);
}

std::unique_ptr<Problem> make_elasticity(const GenerateOptions& o, bool) {
  ElasticityConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  return std::make_unique<ElasticityProblem>(c);
}

// A mesh kept at every --stride-th point.
std::unique_ptr<Problem> strided(std::unique_ptr<Problem> problem, const GenerateOptions& o) {
  if (!o.stride) return problem;
  return std::make_unique<StridedProblem>(std::move(problem), *o.stride);
}

std::unique_ptr<Problem> make_pipe(const GenerateOptions& o, bool smoke) {
  PipeConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  if (smoke) c.elements = 16;
  return strided(std::make_unique<PipeProblem>(c), o);
}

std::unique_ptr<Problem> make_airfoil(const GenerateOptions& o, bool smoke) {
  AirfoilConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  if (smoke) {
    c.mesh.wake_cells = 25;
    c.mesh.side_cells = 30;
    c.mesh.radial_cells = 25;
  }
  return strided(std::make_unique<AirfoilProblem>(c), o);
}

std::unique_ptr<Problem> make_plasticity(const GenerateOptions& o, bool smoke) {
  PlasticityConfig c;
  c.seed = static_cast<std::uint64_t>(o.seed);
  c.frames = o.frames.value_or(c.frames);
  if (smoke) {
    c.cells_x = 40;
    c.cells_y = 12;
  }
  return strided(std::make_unique<PlasticityProblem>(c), o);
}

const std::array kBenchmarks{
    Benchmark{"darcy", "resolution stride medium", {1000, 200}, {40, 10}, make_darcy},
    Benchmark{"elasticity", "", {1000, 200}, {60, 20}, make_elasticity},
    Benchmark{"plasticity", "stride frames", {900, 80}, {8, 2}, make_plasticity},
    Benchmark{"airfoil", "stride", {1000, 200}, {8, 2}, make_airfoil},
    Benchmark{"pipe", "stride", {1000, 200}, {20, 5}, make_pipe},
    Benchmark{"burgers", "resolution stride frames viscosity", {1000, 200}, {20, 5}, make_burgers},
    Benchmark{
        "navier-stokes", "resolution stride frames viscosity covariance", {1000, 200}, {20, 5}, make_navier_stokes},
};

void check_options(const Benchmark& b, const GenerateOptions& o) {
  const auto only = [&](bool given, const char* option) {
    if (given && b.options.find(option) == std::string_view::npos) {
      fail_usage_plainly(fmt::format("generating {}", b.name), fmt::format("--{} is fixed by the benchmark", option),
                         "leave it out");
    }
  };
  only(o.resolution.has_value(), "resolution");
  only(o.stride.has_value(), "stride");
  only(o.frames.has_value(), "frames");
  only(o.viscosity.has_value(), "viscosity");
  only(o.medium != "two-values", "medium");
  only(o.covariance != "printed", "covariance");
}

void generate(const Benchmark& b, const GenerateOptions& o, const std::string& out) {
  const bool smoke = o.preset == "smoke";
  const Sizes sizes = smoke ? b.smoke : b.paper;
  const std::int64_t train = o.train.value_or(sizes.train), test = o.test.value_or(sizes.test);
  const std::unique_ptr<Problem> problem = b.make(o, smoke);
  const SetDescription description = problem->describe();
  const Generated made = generate_dataset(
      out, description, make_splits(train, test, o.validation), problem->coordinates(),
      [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem->make(i, attempt, to); },
      o.force, console());
  fmt::print("{}: {} samples of {}{}\n", out, train + test, shape_text(description.shape),
             description.time.empty() ? "" : fmt::format(" at {} times", description.time.size()));
  if (made.resumed > 0) fmt::print("{} of them were there from a generation that was stopped\n", made.resumed);
  if (made.redrawn > 0) fmt::print("{} samples did not converge and were redrawn\n", made.redrawn);
}

void run_generate(const GenerateOptions& o) {
  check_thread_count(o.threads);
  set_thread_count(o.threads);
  if (o.benchmark == "all") {
    const std::filesystem::path folder(o.out.empty() ? "." : o.out);
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) fail(fmt::format("making the folder '{}'", folder.string()), "a folder to write into", error.message());
    check_options(Benchmark{"all", "", {}, {}, nullptr}, o);
    for (const Benchmark& b : kBenchmarks) refuse_to_overwrite(folder / fmt::format("{}.h5", b.name), o.force);
    for (const Benchmark& b : kBenchmarks) generate(b, o, (folder / fmt::format("{}.h5", b.name)).string());
    return;
  }
  std::vector<std::string> names;
  for (const Benchmark& b : kBenchmarks) {
    if (b.name == o.benchmark) {
      check_options(b, o);
      const std::string out = o.out.empty() ? o.benchmark + ".h5" : o.out;
      refuse_to_overwrite(out, o.force);
      return generate(b, o, out);
    }
    names.emplace_back(b.name);
  }
  names.emplace_back("all");
  fail_usage("generating a dataset", fmt::format("one of the benchmarks: {}", fmt::join(names, ", ")),
             fmt::format("'{}'", o.benchmark), did_you_mean(o.benchmark, names));
}

}  // namespace

void add_generate(CLI::App& app) {
  auto options = std::make_shared<GenerateOptions>();
  CLI::App* command =
      app.add_subcommand("generate", "make the dataset of a benchmark with its own solver, using all cores");
  std::string names;
  for (const Benchmark& b : kBenchmarks) names += fmt::format("{}, ", b.name);
  command->add_option("benchmark", options->benchmark, names + "or all of them into the folder --out")->required();
  command->add_option("--out", options->out, "the file to write; default BENCHMARK.h5");
  command
      ->add_option("--preset", options->preset,
                   "paper: the benchmark's own sizes (default); smoke: a few samples, in seconds")
      ->check(CLI::IsMember({"paper", "smoke"}));
  command->add_option("--train", options->train, "training samples, validation included; paper: 1000")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--test", options->test, "test samples; paper: 200")->check(CLI::NonNegativeNumber);
  command->add_option("--validation", options->validation, "share of the training samples kept for validation")
      ->capture_default_str();
  command->add_option("--resolution", options->resolution,
                      "points per axis in the solve; darcy 421, burgers 64, navier-stokes 128");
  command->add_option("--stride", options->stride,
                      "keep every stride-th point of a grid or mesh; default darcy 5 (85x85), burgers 2 (32x32), "
                      "navier-stokes 2 (64x64), others 1");
  command->add_option("--medium", options->medium, "darcy: a two-valued or a smooth coefficient")
      ->check(CLI::IsMember({"two-values", "lognormal"}))
      ->capture_default_str();
  command->add_option(
      "--frames", options->frames,
      "burgers, plasticity: output times, the first at t = 0; default 11 and 20. navier-stokes: t = 1, 2, ..., the "
      "first ten given; default 20");
  command->add_option("--viscosity", options->viscosity, "burgers; default 0.02. navier-stokes; default 1e-5");
  command
      ->add_option(
          "--covariance", options->covariance,
          "navier-stokes: covariance of the initial vorticity, as printed in its paper, or 18.5 times that, as in its "
          "program")
      ->check(CLI::IsMember({"printed", "program"}))
      ->capture_default_str();
  command->add_option("--seed", options->seed, "sample i depends on (seed, i) alone")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--threads", options->threads, "0: all cores")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--force", options->force, "replace an existing file");
  command->footer(
      "To resume a generation that was stopped, repeat the command: finished samples wait in "
      "OUT.samples.\n"
      "Example: lano generate darcy --resolution 211 --train 1000 --test 100 --out darcy43.h5");
  command->callback([options] { run_generate(*options); });
}

}  // namespace lano::cli
