// `lano experiment race`: reads the recipes, trains and compares them (experiment/race.h), prints the table.
#include <fmt/format.h>

#include <algorithm>

#include "command.h"
#include "console.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "experiment/race_page.h"
#include "run_options.h"
#include "train/trainable.h"

namespace lano::cli {
namespace {

struct RaceOptions {
  std::string data, out;
  std::vector<std::string> config, overrides, recipes;
  RacePlan plan;
};

void run_race(RaceOptions& o, const Program& program) {
  RacePlan& plan = o.plan;
  const TrainConfig base = read_recipe(o.config, o.data, o.overrides);
  if (base.data.empty()) fail_usage_plainly("racing recipes", "no dataset is given", "give it with --data");
  for (const std::string& text : o.recipes) plan.recipes.push_back(parse_race_recipe(text, base));
  program.need_torch(std::any_of(plan.recipes.begin(), plan.recipes.end(),
                                 [](const RaceRecipe& recipe) { return needs_torch(recipe.config); }));
  for (const RaceRecipe& recipe : plan.recipes) tell_unread(recipe.config, recipe.changes);
  program.use_threads(plan.threads);
  plan.program = program_folder() / "lano";
  const InterruptGuard guard;
  run_race(
      plan, o.out, [&] { write_race(plan, o.out); }, console());
  fmt::print("\n{}\ntable: {}\n", write_race(plan, o.out), (std::filesystem::path(o.out) / "race.md").string());
  if (interrupted()) fmt::print("stopped; the same command resumes\n");
  leave_if_interrupted();
  const std::vector<RaceRow> rows = read_race(plan, o.out);
  if (std::none_of(rows.begin(), rows.end(), [](const RaceRow& row) { return row.over_seeds.count > 0; }))
    fail_plainly("racing recipes", "the reference or all other recipes failed", "see the messages above");
}

}  // namespace

void add_race(CLI::App& experiment, const Program& program) {
  auto o = std::make_shared<RaceOptions>();
  CLI::App* command =
      experiment.add_subcommand("race", "which recipe is better on this dataset, and is the difference luck?");
  command->add_option("--data", o->data, "the dataset file (or data.file in the config); needs a validation split");
  command
      ->add_option("--config", o->config,
                   "the TOML recipe that all start from; repeatable, later files override earlier ones")
      ->take_all();
  command->add_option("--set", o->overrides, "change one key of all recipes (repeatable)")->take_all();
  command
      ->add_option("--recipe", o->recipes,
                   "\"NAME: KEY=VALUE FILE.toml ...\" over the base, a TOML file, or base; the first is the reference")
      ->take_all()
      ->required();
  command->add_option("--seeds", o->plan.seeds, "trainings per recipe; a verdict needs 3")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--minutes", o->plan.minutes, "training time per run, by its measured pace; 0: the recipes' epochs")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  command->add_option("--out", o->out, "the folder of the runs and the table")->required();
  command->add_option("--threads", o->plan.threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "The same command resumes where it was stopped; finished runs are kept; recipes and seeds can be added.\n"
      "Example: lano experiment race --data darcy.h5 --config configs/darcy/laptop.toml --minutes 1 --out runs/race "
      "\\\n"
      "           --recipe base --recipe \"wide: model.width=64 model.heads=8\"");
  command->callback([o, program] { run_race(*o, program); });
}

}  // namespace lano::cli
