// `lano experiment table`: makes missing datasets, trains the pairs (experiment/table.h), writes the table and its
// page.
#include <fmt/format.h>

#include "benchmark_sets.h"
#include "command.h"
#include "console.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/resident_memory.h"
#include "experiment/pair_run.h"
#include "experiment/table_page.h"
#include "run_options.h"
#include "train/recipes.h"
#include "train/trainable.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;

struct TableOptions {
  TablePlan plan;
  double minutes = -1;
  std::string out, data, configs;
};

void run_table(TableOptions& o, const Program& program) {
  TablePlan& plan = o.plan;
  const std::vector<std::string> models = catalogue_names();
  if (plan.models.empty()) plan.models = models;
  check_names(plan.models, models, "models", "making a table");
  program.need_torch(plan.models != std::vector<std::string>{"lano"});
  program.use_threads(plan.threads);
  plan.configs = find_configs(o.configs);
  plan.data = o.data;
  plan.program = program_folder() / "lano";
  plan.minutes = o.minutes >= 0 ? o.minutes : plan.preset == "laptop" ? 2 : 0;
  if (plan.benchmarks.empty()) plan.benchmarks = table_benchmarks();
  check_names(plan.benchmarks, made_benchmarks(), "benchmarks", "making a table");
  const InterruptGuard guard;
  check_table(plan, o.out);
  make_missing_sets(plan.benchmarks, plan.preset, plan.data, plan.threads);
  run_table(
      plan, o.out, [&](const Pair&) { write_table(plan, o.out); }, console());
  const std::string table = write_table_page(plan, o.out);
  const fs::path folder = o.out;
  fmt::print("\n{}\ntable: {}\npage:  {}\n", table, (folder / "table.md").string(), (folder / "index.html").string());
  if (interrupted()) fmt::print("stopped; the same command resumes\n");
  leave_if_interrupted();
}

}  // namespace

void add_table(CLI::App& experiment, const Program& program) {
  auto o = std::make_shared<TableOptions>();
  o->plan.preset = "laptop";
  o->data = "data";
  CLI::App* command =
      experiment.add_subcommand("table", "every operator on every benchmark under one budget: the paper's Table 2");
  command
      ->add_option(
          "--preset", o->plan.preset,
          "recipes and sizes of the datasets: laptop, paper, paper-ours (the paper's sizes with our readings), or "
          "smoke, which only checks the workflow")
      ->check(CLI::IsMember({"laptop", kPaperReading, kOurReading, "smoke"}))
      ->capture_default_str();
  command->add_option("--models", o->plan.models, "a,b,...; default all ('lano info --models')")->delimiter(',');
  command->add_option("--benchmarks", o->plan.benchmarks, "a,b,...; default elasticity,plasticity,airfoil,pipe,darcy")
      ->delimiter(',');
  command->add_option("--seeds", o->plan.seeds, "trainings of each pair")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--minutes", o->minutes,
                   "training time per pair and seed; 0: the recipes' epochs; default 2 for laptop, else 0")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--data", o->data, "the folder of the datasets <benchmark>.h5; missing ones are generated there")
      ->capture_default_str();
  command->add_option("--configs", o->configs,
                      "the folder of the recipes; default ./configs or that of the installation");
  command->add_option("--set", o->plan.overrides, "change one key of every recipe (repeatable)")->take_all();
  command->add_option("--out", o->out, "the folder of the runs, the table and its page")->required();
  command->add_option("--threads", o->plan.threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "The same command resumes where it was stopped: finished pairs are kept, a stopped one is resumed.\n"
      "Example: lano experiment table --preset laptop --benchmarks darcy,elasticity --data data --out runs/table");
  command->callback([o, program] { run_table(*o, program); });
}

void add_pair(CLI::App& app, const Program& program) {
  struct Words {
    std::string config, run, result;
    std::vector<std::string> overrides;
    PairWork work;
    bool validation = false;
    int threads = 0;
  };
  auto o = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("pair", "one training of a table or a race, in its own process");
  command->group("");
  command->add_option("--config", o->config)->required();
  command->add_option("--run", o->run)->required();
  command->add_option("--result", o->result)->required();
  command->add_option("--set", o->overrides)->take_all();
  command->add_option("--measure", o->work.measure);
  command->add_flag("--validation", o->validation);
  command->add_option("--threads", o->threads);
  command->callback([o, program] {
    const TrainConfig config = read_recipe_files({o->config}, o->overrides);
    o->work.test = !o->validation;
    program.need_torch(needs_torch(config));
    program.use_threads(o->threads);
    keep_freed_memory();
    const InterruptGuard guard;
    const int code = run_pair_child(config, o->run, o->result, o->work, console());
    std::fflush(stdout);
    if (code != 0) std::_Exit(code);
  });
}

}  // namespace lano::cli
