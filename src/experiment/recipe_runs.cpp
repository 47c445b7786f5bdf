#include "experiment/recipe_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/strict_json.h"
#include "core/threads.h"
#include "data/dataset.h"
#include "run/run_record.h"
#include "run/seed_group.h"
#include "train/recipes.h"
#include "train/split_survey.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

double number_or_nan(const json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

// One call to a child process; the JSON it left, or a crash in the same form.
json ask_child(const ChildOrders& orders, const fs::path& recipe, const fs::path& run, std::int64_t seed,
               double measure) {
  const fs::path result = run.parent_path() / "child.json";
  std::error_code ignored;
  fs::remove(result, ignored);
  std::vector<std::string> words{"pair",
                                 "--config",
                                 recipe.string(),
                                 "--run",
                                 run.string(),
                                 "--result",
                                 result.string(),
                                 "--set",
                                 fmt::format("train.seed={}", seed),
                                 "--threads",
                                 std::to_string(threads_of(orders.threads))};
  if (measure > 0) words.insert(words.end(), {"--measure", fmt::format("{}", measure)});
  if (!orders.test) words.emplace_back("--validation");
  const ChildEnd end = run_child(orders.program, words);
  json answer;
  if (fs::exists(result)) answer = json::parse(read_file(result, "reading"), nullptr, false);
  fs::remove(result, ignored);
  if (answer.is_object() && answer.contains("state")) return answer;
  const std::string how = end.signal != 0 ? fmt::format("signal {} ({})", end.signal, ::strsignal(end.signal))
                                          : fmt::format("exit code {}", end.code);
  return {{"state", "crashed"},
          {"sentence", fmt::format("training: the process ended with {}{}", how,
                                   end.signal == 9 ? "; is there enough memory?" : "")},
          {"peak_bytes", 0}};
}

void note_outcome(SeedOutcome& seed, const fs::path& run, const json& answer) {
  seed.state = answer.at("state");
  seed.sentence = answer.value("sentence", "");
  seed.peak_bytes = std::max(seed.peak_bytes, answer.value("peak_bytes", std::int64_t{0}));
  if (seed.state != "finished") return;
  const RunRecord outcome = read_run_record(run);
  seed.parameters = outcome.parameters;
  seed.epochs = outcome.epochs;
  seed.test_l2 = outcome.test_l2();
  seed.validation_l2 = outcome.validation_l2;
  seed.training_seconds = outcome.training_seconds;
}

fs::path recipe_file(const fs::path& folder) { return folder / "recipe.toml"; }

// The recipe as far as it may not change between calls: the path of the dataset may.
std::string fixed_text(TrainConfig config) {
  config.data = "";
  return to_toml(config);
}

// Samples of an epoch as a share of all.
double epoch_share(const RecipeRuns& runs) {
  return runs.epoch_samples > 0 && runs.items > 0
             ? std::min(1.0, static_cast<double>(runs.epoch_samples) / static_cast<double>(runs.items))
             : 1;
}

}  // namespace

bool RecipeRuns::finished(std::int64_t count) const {
  return std::count_if(seeds.begin(), seeds.end(), [](const SeedOutcome& s) { return s.state == "finished"; }) >= count;
}

std::string RecipeRuns::reason() const {
  for (const SeedOutcome& s : seeds) {
    if (s.state != "finished")
      return s.sentence.empty() ? s.state : fmt::format("{}: {}", s.state, s.sentence.substr(0, s.sentence.find('\n')));
  }
  return "";
}

double RecipeRuns::epoch_seconds() const {
  double sum = 0;
  std::int64_t count = 0;
  for (const SeedOutcome& s : seeds) {
    if (s.state != "finished" || s.epochs == 0) continue;
    // Every epoch, however short, ended in a whole look at the validation split: only the rest grows with the samples.
    const double steps = s.training_seconds / static_cast<double>(s.epochs) - validation_seconds;
    sum += std::max(step_seconds, std::max(0.0, steps) / epoch_share(*this) + validation_seconds);
    ++count;
  }
  return count == 0 ? std::nan("") : sum / static_cast<double>(count);
}

double RecipeRuns::passes(const SeedOutcome& seed) const {
  return static_cast<double>(seed.epochs) * epoch_share(*this);
}

ordered_json to_json(const RecipeRuns& runs) {
  ordered_json seeds = ordered_json::array();
  for (const SeedOutcome& s : runs.seeds) {
    seeds.push_back({{"seed", s.seed},
                     {"state", s.state},
                     {"sentence", s.sentence},
                     {"parameters", s.parameters},
                     {"epochs", s.epochs},
                     {"test_l2", s.test_l2},
                     {"validation_l2", s.validation_l2},
                     {"training_seconds", s.training_seconds},
                     {"peak_bytes", s.peak_bytes}});
  }
  return {{"minutes", runs.minutes},
          {"threads", runs.threads},
          {"set", runs.set},
          {"step_seconds", runs.step_seconds},
          {"validation_seconds", runs.validation_seconds},
          {"items", runs.items},
          {"epochs", runs.epochs},
          {"epoch_samples", runs.epoch_samples},
          {"seeds", seeds}};
}

RecipeRuns recipe_runs_from(const json& from) {
  RecipeRuns runs{{},
                  from.at("minutes"),
                  from.at("step_seconds"),
                  from.value("validation_seconds", 0.0),
                  from.at("epochs"),
                  from.at("epoch_samples"),
                  from.at("items"),
                  from.at("threads"),
                  from.value("set", "")};  // of older versions: unknown
  for (const json& s : from.at("seeds")) {
    runs.seeds.push_back({s.at("seed"), s.at("state"), s.at("sentence"), s.at("parameters"), s.at("epochs"),
                          s.at("peak_bytes"), number_or_nan(s.at("test_l2")), number_or_nan(s.at("validation_l2")),
                          s.at("training_seconds")});
  }
  return runs;
}

RecipeRuns read_runs(const fs::path& folder) {
  const fs::path path = folder / "runs.json";
  if (!fs::exists(path)) return {};
  const std::string doing = fmt::format("reading '{}'", path.string());
  try {
    return recipe_runs_from(parse_json(read_file(path, "reading"), doing, "the state of a recipe's runs"));
  } catch (const json::exception& error) {
    fail(doing, "the state of a recipe's runs", json_reason(error), "remove the file; finished runs are kept");
  }
}

void write_runs(const fs::path& folder, const RecipeRuns& runs) {
  write_file_atomically(folder / "runs.json", to_json(runs).dump(1) + "\n");
}

int threads_of(int asked) { return asked > 0 ? asked : thread_count(); }

std::string set_hash(const fs::path& data) { return fmt::format("{:016x}", DatasetReader(data).hash()); }

std::optional<Pace> ask_pace(const ChildOrders& orders, const TrainConfig& recipe, const fs::path& folder,
                             double seconds, RecipeRuns& runs) {
  write_file_atomically(recipe_file(folder), to_toml(recipe));
  const json answer = ask_child(orders, recipe_file(folder), folder / "warm-up", recipe.seed, seconds);
  if (interrupted()) return std::nullopt;
  if (answer.at("state") != "measured") {
    note_outcome(outcome_of(runs, recipe.seed), folder, answer);
    return std::nullopt;
  }
  return Pace{answer.at("step_seconds"), answer.at("validation_seconds"), answer.at("items")};
}

double pace_seconds(double minutes) { return std::clamp(0.08 * 60 * minutes, 1.0, 10.0); }

void fix_epochs(const TrainConfig& recipe, const std::optional<Pace>& pace, double minutes, const fs::path& folder,
                RecipeRuns& runs) {
  TrainConfig fixed = recipe;
  runs.minutes = minutes;
  if (pace) {
    fixed = fit_to_budget(recipe, *pace, 60 * minutes);
    runs.step_seconds = pace->step_seconds;
    runs.validation_seconds = pace->validation_seconds;
    runs.items = pace->items;
  }
  write_file_atomically(recipe_file(folder), to_toml(fixed));
  runs.epochs = fixed.epochs;
  runs.epoch_samples = fixed.epoch_samples;
}

void take_epochs(const TrainConfig& recipe, const RecipeRuns& other, const fs::path& folder, RecipeRuns& runs) {
  TrainConfig fixed = recipe;
  fixed.epochs = runs.epochs = other.epochs;
  fixed.epoch_samples = runs.epoch_samples = other.epoch_samples;
  runs.minutes = other.minutes;
  runs.items = other.items;
  write_file_atomically(recipe_file(folder), to_toml(fixed));
}

std::string epochs_sentence(const RecipeRuns& runs) {
  return fmt::format("{:.3g} s per step: {} epochs of {} samples in {:g} minutes", runs.step_seconds, runs.epochs,
                     runs.epoch_samples > 0 ? std::min(runs.epoch_samples, runs.items) : runs.items, runs.minutes);
}

TrainConfig fixed_recipe(TrainConfig recipe, const fs::path& folder, const RecipeRuns& runs, std::string_view doing) {
  if (runs.minutes > 0) {
    recipe.epochs = runs.epochs;
    recipe.epoch_samples = runs.epoch_samples;
  }
  const TrainConfig before = read_recipe_files({recipe_file(folder)}, {});
  if (fixed_text(before) != fixed_text(recipe)) {
    fail_usage_plainly(doing, fmt::format("the recipe differs from the one in '{}'", recipe_file(folder).string()),
                       "choose another --out, or remove that folder");
  }
  return recipe;
}

fs::path seed_folder(const fs::path& folder, std::int64_t seed) { return folder / seed_run_name(seed); }

const SeedOutcome* find_outcome(const RecipeRuns& runs, std::int64_t seed) {
  for (const SeedOutcome& known : runs.seeds) {
    if (known.seed == seed) return &known;
  }
  return nullptr;
}

SeedOutcome& outcome_of(RecipeRuns& runs, std::int64_t seed) {
  for (SeedOutcome& known : runs.seeds) {
    if (known.seed == seed) return known;
  }
  runs.seeds.push_back({});
  runs.seeds.back().seed = seed;
  return runs.seeds.back();
}

void train_seed(const ChildOrders& orders, const fs::path& folder, std::int64_t seed, RecipeRuns& runs) {
  const fs::path run = seed_folder(folder, seed);
  note_outcome(outcome_of(runs, seed), run, ask_child(orders, recipe_file(folder), run, seed, 0));
}

std::string dataset_words(const fs::path& data, TrainOn train_on) {
  const DatasetReader reader(data);
  const SetDescription& set = reader.description();
  const std::size_t train = training_ids(reader, train_on).size(), validation = validation_ids(reader, train_on).size();
  return fmt::format("{} {}{}; {} and {} test samples", geometry_name(set.geometry), shape_text(set.shape),
                     set.time.empty() ? "" : fmt::format(" at {} times", set.time.size()),
                     train_on == TrainOn::train ? fmt::format("{} training, {} validation", train, validation)
                                                : fmt::format("{} training (none kept for validation)", train),
                     reader.indices(Split::test).size());
}

}  // namespace lano
