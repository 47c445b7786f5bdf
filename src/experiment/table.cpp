#include "experiment/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/interrupt.h"
#include "core/strict_json.h"
#include "model_spec/model_catalogue.h"
#include "train/recipes.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

Pair pair_from(const fs::path& path) {
  try {
    const json from = json::parse(read_file(path, "reading"));
    return {recipe_runs_from(from), from.at("model"), from.at("benchmark")};
  } catch (const json::exception& error) {
    fail(fmt::format("reading '{}'", path.string()), "the state of a pair", json_reason(error),
         "remove the file; finished runs are kept");
  }
}

ChildOrders orders_of(const TablePlan& plan) { return {plan.program, plan.threads, true}; }

fs::path pair_file(const fs::path& folder) { return folder / "pair.json"; }
void write_pair(const fs::path& folder, const Pair& pair) {
  ordered_json out{{"model", pair.model}, {"benchmark", pair.benchmark}};
  out.update(to_json(pair));
  write_file_atomically(pair_file(folder), out.dump(1) + "\n");
}

std::string plan_text(const TablePlan& plan) {
  return ordered_json{{"preset", plan.preset}, {"minutes", plan.minutes}, {"set", plan.overrides}}.dump(1) + "\n";
}

std::string doing_of(const Pair& pair) { return fmt::format("training {} on {}", pair.model, pair.benchmark); }

// Fixes the epochs where they are not fixed yet; false where the pair cannot be trained, which is noted.
bool fix_epochs_of(const TablePlan& plan, const TrainConfig& recipe, const fs::path& folder, Pair& pair,
                   Listener& listener) {
  if (pair.epochs > 0) return true;
  std::optional<Pace> pace;
  if (plan.minutes > 0) {
    pace = ask_pace(orders_of(plan), recipe, folder, pace_seconds(plan.minutes), pair);
    if (!pace) return false;
  }
  fix_epochs(recipe, pace, plan.minutes, folder, pair);
  if (pace) listener.say(epochs_sentence(pair));
  return true;
}

// What is known about a pair, with what is requested now. `set`: the hash of the benchmark's.
Pair begun_pair(const TablePlan& plan, const fs::path& folder, const std::string& benchmark, const std::string& model,
                const std::string& set) {
  make_folder(folder);
  Pair pair;
  if (fs::exists(pair_file(folder))) pair = pair_from(pair_file(folder));
  pair.model = model;
  pair.benchmark = benchmark;
  pair.threads = threads_of(plan.threads);
  pair.set = set;
  return pair;
}

// Writes pair.json with the epochs that the budget buys.
void begin_pair(const TablePlan& plan, const fs::path& folder, Pair pair, Listener& listener) {
  if (pair.epochs > 0) return;
  if (plan.minutes > 0) listener.say(fmt::format("== {} on {}: measuring its pace", pair.model, pair.benchmark));
  const bool fixed = fix_epochs_of(plan, pair_recipe(plan, pair.benchmark, pair.model), folder, pair, listener);
  if (fixed || !interrupted()) write_pair(folder, pair);
}

void finish_pair(const TablePlan& plan, const fs::path& folder, Pair pair) {
  write_pair(folder, pair);
  const TrainConfig fixed = fixed_recipe(pair_recipe(plan, pair.benchmark, pair.model), folder, pair, doing_of(pair));
  write_file_atomically(folder / "recipe.toml", to_toml(fixed));  // with the current path of the dataset
  for (std::int64_t s = fixed.seed; s < fixed.seed + plan.seeds && !interrupted(); ++s) {
    if (const SeedOutcome* known = find_outcome(pair, s); known != nullptr && known->settled()) continue;
    train_seed(orders_of(plan), folder, s, pair);
    write_pair(folder, pair);
  }
}

// A hash of the contents of every benchmark's dataset; fails if one is missing, or runs in the folder are of another.
std::map<std::string, std::string> hashes_of_sets(const TablePlan& plan, const fs::path& folder) {
  std::map<std::string, std::string> hashes;
  for (const std::string& benchmark : plan.benchmarks) {
    const fs::path set = plan.data / (benchmark + ".h5");
    if (!fs::exists(set))
      fail_plainly("making a table", fmt::format("the dataset '{}' is missing", set.string()),
                   "generate it or import it there");
  }
  for (const std::string& benchmark : plan.benchmarks) {
    hashes[benchmark] = set_hash(plan.data / (benchmark + ".h5"));
  }
  for (const Pair& pair : read_table(folder)) {
    const auto now = hashes.find(pair.benchmark);
    if (pair.epochs == 0 || pair.set.empty() || now == hashes.end() || now->second == pair.set) continue;
    fail_usage_plainly("resuming a table",
                       fmt::format("'{}' is not the dataset that {} was trained on",
                                   (plan.data / (pair.benchmark + ".h5")).string(), pair.model),
                       "choose another --out, or give the folder of that dataset with --data");
  }
  return hashes;
}

std::int64_t place_of(const std::string& model) {
  const auto models = model_catalogue();
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelInfo& m) { return m.name == model; });
  return found - models.begin();
}

}  // namespace

TrainConfig pair_recipe(const TablePlan& plan, const std::string& benchmark, const std::string& model) {
  TrainConfig config = read_recipe_files(recipe_files(plan.configs, benchmark, model, plan.preset), plan.overrides);
  config.model = model;
  config.data = (plan.data / (benchmark + ".h5")).string();
  check_train_config(config);
  return config;
}

fs::path pair_folder(const fs::path& folder, const std::string& benchmark, const std::string& model) {
  return folder / benchmark / model;
}

void check_table(const TablePlan& plan, const fs::path& folder) {
  if (plan.seeds < 1) fail_usage("making a table", "at least one seed", std::to_string(plan.seeds));
  if (!(plan.minutes >= 0)) fail_usage("making a table", "--minutes of at least 0", fmt::format("{}", plan.minutes));
  if (const fs::path file = folder / "table.json"; fs::exists(file) && read_file(file, "reading") != plan_text(plan)) {
    fail_usage_plainly("resuming a table",
                       fmt::format("the preset, --minutes or --set differ from those in '{}'", file.string()),
                       "choose another --out");
  }
  for (const Pair& pair : read_table(folder)) {
    if (pair.epochs == 0 || pair.threads == 0 || pair.threads == threads_of(plan.threads))
      continue;  // 0: of an older version, unknown
    fail_usage("resuming a table",
               fmt::format("--threads {}, with which {} on {} was trained", pair.threads, pair.model, pair.benchmark),
               std::to_string(threads_of(plan.threads)), "choose another --out");
  }
  for (const std::string& benchmark : plan.benchmarks) {
    for (const std::string& model : plan.models) {
      const fs::path own = pair_folder(folder, benchmark, model);
      const TrainConfig recipe = pair_recipe(plan, benchmark, model);  // says what is wrong with it
      if (!fs::exists(pair_file(own))) continue;
      if (const Pair pair = pair_from(pair_file(own)); pair.epochs > 0) fixed_recipe(recipe, own, pair, doing_of(pair));
    }
  }
}

void run_table(const TablePlan& plan, const fs::path& folder, const std::function<void(const Pair&)>& see,
               Listener& listener) {
  check_table(plan, folder);
  const std::map<std::string, std::string> hashes = hashes_of_sets(plan, folder);
  make_folder(folder);
  const FolderLock lock(folder, fmt::format("training into '{}'", folder.string()));
  write_file_atomically(folder / "table.json", plan_text(plan));
  const auto each_pair = [&](const auto& work) {
    for (const std::string& benchmark : plan.benchmarks) {
      for (const std::string& model : plan.models) {
        if (interrupted()) return;
        const fs::path own = pair_folder(folder, benchmark, model);
        work(own, begun_pair(plan, own, benchmark, model, hashes.at(benchmark)));
      }
    }
  };
  // All paces before the first training: what the machine does in the hours of the trainings gives no pair fewer
  // epochs.
  each_pair([&](const fs::path& own, const Pair& pair) { begin_pair(plan, own, pair, listener); });
  each_pair([&](const fs::path& own, const Pair& begun) {
    listener.say(fmt::format("== {} on {}", begun.model, begun.benchmark));
    if (begun.epochs > 0) finish_pair(plan, own, begun);
    const Pair pair = pair_from(pair_file(own));
    if (const std::string why = pair.reason(); !why.empty()) listener.say(why);
    see(pair);
  });
}

std::vector<Pair> read_table(const fs::path& folder) {
  std::vector<Pair> pairs;
  std::error_code ignored;
  for (const auto& benchmark : fs::directory_iterator(folder, ignored)) {
    if (!benchmark.is_directory()) continue;
    for (const auto& model : fs::directory_iterator(benchmark, ignored)) {
      if (fs::exists(pair_file(model.path()))) pairs.push_back(pair_from(pair_file(model.path())));
    }
  }
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::tuple(a.benchmark, place_of(a.model), a.model) < std::tuple(b.benchmark, place_of(b.model), b.model);
  });
  return pairs;
}

}  // namespace lano
