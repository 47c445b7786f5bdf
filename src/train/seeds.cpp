#include "train/seeds.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "data/dataset.h"
#include "metrics/metrics.h"

namespace lano {
namespace {

using nlohmann::ordered_json;

std::filesystem::path recipe_of(const std::filesystem::path& folder) { return folder / "recipe.toml"; }
std::string run_name(std::int64_t seed) { return fmt::format("seed-{}", seed); }

// JSON has no NaN: what is not there is null, which is how the library writes one.
ordered_json to_json(const MeanAndDeviation& values) {
  return {{"mean", values.mean}, {"deviation", values.deviation}};
}

void write_group(const std::filesystem::path& folder, const SeedResults& group) {
  ordered_json runs = ordered_json::array();
  for (const SeedRun& run : group.runs) {
    runs.push_back({{"seed", run.seed},
                    {"run", run_name(run.seed)},
                    {"validation_l2", run.outcome.validation_l2},
                    {"test_l2", run.outcome.test_l2},
                    {"best_epoch", run.outcome.best_epoch}});
  }
  const ordered_json all{{"planned", group.planned},
                         {"base_seed", group.base_seed},
                         {"seeds", runs},
                         {"validation_l2", to_json(group.validation)},
                         {"test_l2", to_json(group.test)},
                         {"selection", group.selection}};
  write_file_atomically(seed_group_file(folder), all.dump(1) + "\n");
}

void summarise_runs(SeedResults& group) {
  std::vector<double> validation, test;
  for (const SeedRun& run : group.runs) {
    if (std::isfinite(run.outcome.validation_l2)) validation.push_back(run.outcome.validation_l2);
    if (std::isfinite(run.outcome.test_l2)) test.push_back(run.outcome.test_l2);
  }
  group.validation = mean_and_deviation(validation);
  group.test = mean_and_deviation(test);
}

void check_folder(const TrainConfig& config, std::int64_t count, const std::filesystem::path& folder, bool resume) {
  const std::string doing = fmt::format("training {} seeds into '{}'", count, folder.string());
  if (std::filesystem::exists(folder / "config.toml")) {
    fail(doing, "a new folder", "a single run that is already there", "choose another --out");
  }
  if (!is_seed_group(folder)) return;
  if (!resume) {
    fail(doing, "a new folder", "a group of seeds that is already there",
         "choose another --out, or add --resume to go on with it");
  }
  if (read_file(recipe_of(folder), "reading") != to_toml(config)) {
    fail_usage(doing, "the recipe and data the group was started with", "others",
               "choose another --out, or give no --config, --data and --set beside --resume");
  }
  if (const std::int64_t planned = planned_seeds(folder); planned != count) {
    fail_usage(doing, fmt::format("--seeds {}, with which the group was started", planned), std::to_string(count),
               "choose another --out, or give no --seeds beside --resume");
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

std::int64_t planned_seeds(const std::filesystem::path& folder) {
  try {
    return nlohmann::json::parse(read_file(seed_group_file(folder), "reading")).at("planned");
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("reading '{}'", seed_group_file(folder).string()), "the plan of a group of seeds", error.what(),
         "remove the file and give the whole command again; finished runs are kept");
  }
}

SeedResults run_seeds(const TrainConfig& config, std::int64_t count, const std::filesystem::path& folder, bool resume) {
  if (count < 2) fail_usage("training several seeds", "--seeds of at least 2", std::to_string(count));
  check_train_config(config);
  check_folder(config, count, folder, resume);
  const DatasetReader reader(config.data);  // a missing dataset leaves no folder behind
  SeedResults group;
  group.planned = count;
  group.base_seed = config.seed;
  group.selection = fmt::format("{}; the test split is read once a seed, after its training; no seed is chosen",
                                config.selection == Selection::best ? "weights of the epoch that is best on validation"
                                                                    : "weights of the last epoch");
  summarise_runs(group);
  make_folder(folder);
  const FolderLock lock(folder, fmt::format("training into '{}'", folder.string()));
  write_file_atomically(recipe_of(folder), to_toml(config));  // before the plan, which promises it
  write_group(folder, group);
  for (std::int64_t seed = config.seed; seed < config.seed + count; ++seed) {
    TrainConfig each = config;
    each.seed = seed;
    const auto outcome = finish_run(each, folder / run_name(seed), fmt::format("seed {}", seed));
    if (!outcome) break;
    group.runs.push_back({seed, *outcome});
    summarise_runs(group);
    write_group(folder, group);
  }
  return group;
}

std::string seeds_text(const SeedResults& group) {
  std::string text = "seed        validation   test         weights of epoch\n";
  for (const SeedRun& run : group.runs) {
    text += fmt::format("{:<11} {:<12} {:<12} {}\n", run.seed, error_text(run.outcome.validation_l2),
                        error_text(run.outcome.test_l2), run.outcome.best_epoch);
  }
  text += fmt::format("\nrelative L2 over {} of {} seeds\n", group.runs.size(), group.planned);
  text += spread_text("validation", group.validation) + spread_text("test", group.test);
  return text + "how         " + group.selection + "\n";
}

}  // namespace lano
