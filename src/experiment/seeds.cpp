#include "experiment/seeds.h"

#include <fmt/format.h>

#include <cmath>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/ranks.h"
#include "data/dataset.h"
#include "experiment/finish_run.h"
#include "metrics/metrics.h"
#include "run/run_folder.h"

namespace lano {
namespace {

std::filesystem::path recipe_of(const std::filesystem::path& folder) { return folder / "recipe.toml"; }
void summarise_runs(SeedResults& group) {
  std::vector<double> validation, test;
  for (const SeedRun& run : group.runs) {
    if (std::isfinite(run.validation_l2)) validation.push_back(run.validation_l2);
    if (std::isfinite(run.test_l2)) test.push_back(run.test_l2);
  }
  group.validation = mean_and_deviation(validation);
  group.test = mean_and_deviation(test);
}

void check_folder(const TrainConfig& config, std::int64_t count, const std::filesystem::path& folder, bool resume) {
  const std::string doing = fmt::format("training {} seeds into '{}'", count, folder.string());
  if (std::filesystem::exists(config_file(folder))) {
    fail(doing, "a new folder", "a single run that is already there", "choose another --out");
  }
  if (!is_seed_group(folder)) return;
  if (!resume) {
    fail(doing, "a new folder", "a group of seeds that is already there",
         "choose another --out, or add --resume to resume it");
  }
  if (read_file(recipe_of(folder), "reading") != to_toml(config)) {
    fail_usage_plainly(doing, "the recipe or the dataset differs from that of the group",
                       "choose another --out, or give no --config, --data and --set with --resume");
  }
  if (const std::int64_t planned = planned_seeds(folder); planned != count) {
    fail_usage(doing, fmt::format("--seeds {}, with which the group was started", planned), std::to_string(count),
               "choose another --out, or give no --seeds with --resume");
  }
}

std::string error_text(double value) { return std::isfinite(value) ? fmt::format("{:.4e}", value) : "-"; }

std::string spread_text(const char* split, const MeanAndDeviation& values) {
  return fmt::format("{:<11} mean {} +- {}\n", split, error_text(values.mean),
                     std::isfinite(values.deviation) ? fmt::format("{:.1e}", values.deviation) : "-");
}

}  // namespace

MeanAndDeviation mean_and_deviation(std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const ErrorSummary summary = summarise(values);
  return {values.empty() ? std::nan("") : summary.mean,
          values.size() > 1 ? summary.deviation * std::sqrt(n / (n - 1)) : std::nan("")};
}

SeedResults run_seeds(const TrainConfig& config, std::int64_t count, const std::filesystem::path& folder, bool resume,
                      Listener& listener) {
  if (count < 2) fail_usage("training several seeds", "--seeds of at least 2", std::to_string(count));
  check_train_config(config);
  ranks().meet();  // all have seen the folder as it was
  const bool writes = ranks().first();
  if (writes) check_folder(config, count, folder, resume);
  const DatasetReader reader(config.data);  // a missing dataset leaves no folder behind
  SeedResults group;
  group.planned = count;
  group.base_seed = config.seed;
  group.selection = fmt::format("{}; {}; no seed is chosen",
                                config.selection == Selection::best ? "weights of the epoch that is best on validation"
                                                                    : "weights of the last epoch",
                                reader.indices(Split::test).empty()
                                    ? "the dataset has no test split"
                                    : "the test split is evaluated once per seed, after its training");
  summarise_runs(group);
  std::optional<FolderLock> lock;
  if (writes) {
    make_folder(folder);
    lock.emplace(folder, fmt::format("training into '{}'", folder.string()));
    write_file_atomically(recipe_of(folder), to_toml(config));  // before the plan, which promises it
    write_seed_group(folder, group);
  }
  for (std::int64_t seed = config.seed; seed < config.seed + count; ++seed) {
    TrainConfig each = config;
    each.seed = seed;
    const auto outcome = finish_run(each, folder / seed_run_name(seed), fmt::format("seed {}", seed), listener);
    if (!outcome) break;
    group.runs.push_back({seed, outcome->best_epoch, outcome->validation_l2, outcome->test_l2()});
    summarise_runs(group);
    if (writes) write_seed_group(folder, group);
  }
  return group;
}

std::string seeds_text(const SeedResults& group) {
  std::string text = "seed        validation   test         weights of epoch\n";
  for (const SeedRun& run : group.runs) {
    text += fmt::format("{:<11} {:<12} {:<12} {}\n", run.seed, error_text(run.validation_l2), error_text(run.test_l2),
                        run.best_epoch);
  }
  text += fmt::format("\nrelative L2 over {} of {} seeds\n", group.runs.size(), group.planned);
  text += spread_text("validation", group.validation) + spread_text("test", group.test);
  return text + "how         " + group.selection + "\n";
}

}  // namespace lano
