#include "experiment/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/interrupt.h"
#include "core/strict_json.h"
#include "core/threads.h"
#include "data/dataset.h"
#include "experiment/pair_run.h"
#include "model_spec/model_catalogue.h"
#include "run/run_record.h"
#include "train/recipes.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

double number_from(const json& value) { return value.is_number() ? value.get<double>() : std::nan(""); }

ordered_json to_json(const Pair& pair) {
  ordered_json seeds = ordered_json::array();
  for (const PairSeed& s : pair.seeds) {
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
  return {{"model", pair.model},
          {"benchmark", pair.benchmark},
          {"minutes", pair.minutes},
          {"threads", pair.threads},
          {"set", pair.set},
          {"step_seconds", pair.step_seconds},
          {"validation_seconds", pair.validation_seconds},
          {"items", pair.items},
          {"epochs", pair.epochs},
          {"epoch_samples", pair.epoch_samples},
          {"seeds", seeds}};
}

Pair pair_from(const fs::path& path) {
  try {
    const json from = json::parse(read_file(path, "reading"));
    Pair pair{from.at("model"),   from.at("benchmark"),     {},
              from.at("minutes"), from.at("step_seconds"),  from.value("validation_seconds", 0.0),
              from.at("epochs"),  from.at("epoch_samples"), from.at("items"),
              from.at("threads"), from.value("set", "")};  // of older versions: unknown
    for (const json& s : from.at("seeds")) {
      pair.seeds.push_back({s.at("seed"), s.at("state"), s.at("sentence"), s.at("parameters"), s.at("epochs"),
                            s.at("peak_bytes"), number_from(s.at("test_l2")), number_from(s.at("validation_l2")),
                            s.at("training_seconds")});
    }
    return pair;
  } catch (const json::exception& error) {
    fail(fmt::format("reading '{}'", path.string()), "the state of a pair", json_reason(error),
         "remove the file; finished runs beside it are kept");
  }
}

int threads_of(const TablePlan& plan) { return plan.threads > 0 ? plan.threads : thread_count(); }

fs::path pair_file(const fs::path& folder) { return folder / "pair.json"; }
void write_pair(const fs::path& folder, const Pair& pair) {
  write_file_atomically(pair_file(folder), to_json(pair).dump(1) + "\n");
}

// What the files of a pair say, before a budget fixes its epochs.
TrainConfig recipe_of(const TablePlan& plan, const std::string& benchmark, const std::string& model) {
  TrainConfig config = read_recipe_files(recipe_files(plan.configs, benchmark, model, plan.preset), plan.overrides);
  config.model = model;
  config.data = (plan.data / (benchmark + ".h5")).string();
  check_train_config(config);
  return config;
}

// The recipe as far as it may not change between calls: where the set lies may.
std::string fixed_text(TrainConfig config) {
  config.data = "";
  return to_toml(config);
}

std::string plan_text(const TablePlan& plan) {
  return ordered_json{{"preset", plan.preset}, {"minutes", plan.minutes}, {"set", plan.overrides}}.dump(1) + "\n";
}

// One call to a child process; the JSON it left, or a crash in the same form.
json ask_child(const TablePlan& plan, const fs::path& recipe, const fs::path& run, std::int64_t seed, double measure) {
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
                                 std::to_string(threads_of(plan))};
  if (measure > 0) words.insert(words.end(), {"--measure", fmt::format("{}", measure)});
  const ChildEnd end = run_child(plan.program, words);
  json answer;
  if (fs::exists(result)) answer = json::parse(read_file(result, "reading"), nullptr, false);
  fs::remove(result, ignored);
  if (answer.is_object() && answer.contains("state")) return answer;
  const std::string how = end.signal != 0 ? fmt::format("signal {} ({})", end.signal, ::strsignal(end.signal))
                                          : fmt::format("exit code {}", end.code);
  return {{"state", "crashed"},
          {"sentence", fmt::format("training: expected an end, found {}{}", how,
                                   end.signal == 9 ? "; is there enough memory?" : "")},
          {"peak_bytes", 0}};
}

// Runs of finished seeds are kept; a divergence would come again; all else is tried again.
bool is_settled(const PairSeed& seed) { return seed.state == "finished" || seed.state == "diverged"; }

PairSeed& seed_of(Pair& pair, std::int64_t seed) {
  for (PairSeed& known : pair.seeds) {
    if (known.seed == seed) return known;
  }
  pair.seeds.push_back({});
  pair.seeds.back().seed = seed;
  return pair.seeds.back();
}

void note_outcome(PairSeed& seed, const fs::path& run, const json& answer) {
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

// Fixes the epochs where they are not fixed yet; false where the pair cannot be trained, which is noted.
bool fix_epochs(const TablePlan& plan, const TrainConfig& recipe, const fs::path& folder, Pair& pair,
                Listener& listener) {
  const fs::path file = folder / "recipe.toml";
  if (pair.epochs > 0) return true;
  TrainConfig fixed = recipe;
  pair.minutes = plan.minutes;
  if (plan.minutes > 0) {
    write_file_atomically(file, to_toml(recipe));
    const double seconds = std::clamp(0.08 * 60 * plan.minutes, 1.0, 10.0);
    const json answer = ask_child(plan, file, folder / "warm-up", recipe.seed, seconds);
    if (interrupted()) return false;
    if (answer.at("state") != "measured") {
      note_outcome(seed_of(pair, recipe.seed), folder, answer);
      return false;
    }
    const Pace pace{answer.at("step_seconds"), answer.at("validation_seconds"), answer.at("items")};
    fixed = fit_to_budget(recipe, pace, 60 * plan.minutes);
    pair.step_seconds = pace.step_seconds;
    pair.validation_seconds = pace.validation_seconds;
    pair.items = pace.items;
    listener.say(
        fmt::format("{:.3g} s a step: {} epochs of {} samples in {:g} minutes", pace.step_seconds, fixed.epochs,
                    fixed.epoch_samples > 0 ? std::min(fixed.epoch_samples, pace.items) : pace.items, plan.minutes));
  }
  write_file_atomically(file, to_toml(fixed));
  pair.epochs = fixed.epochs;
  pair.epoch_samples = fixed.epoch_samples;
  return true;
}

// The fixed recipe, from the files of this call: the same as before, or the pair would be of two minds.
TrainConfig fixed_recipe(const TablePlan& plan, const fs::path& folder, const Pair& pair) {
  TrainConfig config = recipe_of(plan, pair.benchmark, pair.model);
  config.epochs = pair.epochs;
  config.epoch_samples = pair.epoch_samples;
  const TrainConfig before = read_recipe_files({folder / "recipe.toml"}, {});
  if (fixed_text(before) != fixed_text(config)) {
    fail_usage(fmt::format("training {} on {}", pair.model, pair.benchmark),
               fmt::format("the recipe in '{}'", (folder / "recipe.toml").string()), "another",
               "choose another --out, or remove that folder");
  }
  return config;
}

// `set`: the hash of the benchmark's.
void finish_pair(const TablePlan& plan, const fs::path& folder, const std::string& benchmark, const std::string& model,
                 const std::string& set, Listener& listener) {
  make_folder(folder);
  Pair pair;
  if (fs::exists(pair_file(folder))) pair = pair_from(pair_file(folder));
  pair.model = model;
  pair.benchmark = benchmark;
  pair.threads = threads_of(plan);
  pair.set = set;
  const TrainConfig recipe = recipe_of(plan, benchmark, model);
  if (!fix_epochs(plan, recipe, folder, pair, listener)) {
    if (!interrupted()) write_pair(folder, pair);
    return;
  }
  write_pair(folder, pair);
  const TrainConfig fixed = fixed_recipe(plan, folder, pair);
  write_file_atomically(folder / "recipe.toml", to_toml(fixed));  // with the place of the set as it is now
  for (std::int64_t s = fixed.seed; s < fixed.seed + plan.seeds && !interrupted(); ++s) {
    PairSeed& seed = seed_of(pair, s);
    if (is_settled(seed)) continue;
    const fs::path run = folder / fmt::format("seed-{}", s);
    note_outcome(seed, run, ask_child(plan, folder / "recipe.toml", run, s, 0));
    write_pair(folder, pair);
  }
}

// A number for the contents of every benchmark's set; fails where one is missing, or runs in the folder are of another.
std::map<std::string, std::string> hashes_of_sets(const TablePlan& plan, const fs::path& folder) {
  std::map<std::string, std::string> hashes;
  for (const std::string& benchmark : plan.benchmarks) {
    const fs::path set = plan.data / (benchmark + ".h5");
    if (!fs::exists(set))
      fail("making a table", fmt::format("the set '{}'", set.string()), "none", "generate or import it there");
  }
  for (const std::string& benchmark : plan.benchmarks) {
    hashes[benchmark] = fmt::format("{:016x}", DatasetReader(plan.data / (benchmark + ".h5")).hash());
  }
  for (const Pair& pair : read_table(folder)) {
    const auto now = hashes.find(pair.benchmark);
    if (pair.epochs == 0 || pair.set.empty() || now == hashes.end() || now->second == pair.set) continue;
    fail_usage("going on with a table", fmt::format("the {} set that {} was trained on", pair.benchmark, pair.model),
               fmt::format("another in '{}'", (plan.data / (pair.benchmark + ".h5")).string()),
               "choose another --out, or give the folder of that set with --data");
  }
  return hashes;
}

std::int64_t place_of(const std::string& model) {
  const auto models = model_catalogue();
  const auto found = std::find_if(models.begin(), models.end(), [&](const ModelInfo& m) { return m.name == model; });
  return found - models.begin();
}

}  // namespace

bool Pair::finished(std::int64_t count) const {
  return std::count_if(seeds.begin(), seeds.end(), [](const PairSeed& s) { return s.state == "finished"; }) >= count;
}

std::string Pair::reason() const {
  for (const PairSeed& s : seeds) {
    if (s.state != "finished")
      return s.sentence.empty() ? s.state : fmt::format("{}: {}", s.state, s.sentence.substr(0, s.sentence.find('\n')));
  }
  return "";
}

double Pair::epoch_seconds() const {
  double sum = 0;
  std::int64_t count = 0;
  const double share = epoch_samples > 0 && items > 0
                           ? std::min(1.0, static_cast<double>(epoch_samples) / static_cast<double>(items))
                           : 1;
  for (const PairSeed& s : seeds) {
    if (s.state != "finished" || s.epochs == 0) continue;
    // Every epoch, however short, ended in a whole look at the validation split: only the rest grows with the samples.
    const double steps = s.training_seconds / static_cast<double>(s.epochs) - validation_seconds;
    sum += std::max(step_seconds, std::max(0.0, steps) / share + validation_seconds);
    ++count;
  }
  return count == 0 ? std::nan("") : sum / static_cast<double>(count);
}

fs::path pair_folder(const fs::path& folder, const std::string& benchmark, const std::string& model) {
  return folder / benchmark / model;
}

void check_table(const TablePlan& plan, const fs::path& folder) {
  if (plan.seeds < 1) fail_usage("making a table", "at least one seed", std::to_string(plan.seeds));
  if (!(plan.minutes >= 0)) fail_usage("making a table", "--minutes of at least 0", fmt::format("{}", plan.minutes));
  if (const fs::path file = folder / "table.json"; fs::exists(file) && read_file(file, "reading") != plan_text(plan)) {
    fail_usage("going on with a table", fmt::format("the preset, minutes and --set in '{}'", file.string()), "others",
               "choose another --out");
  }
  for (const Pair& pair : read_table(folder)) {
    if (pair.epochs == 0 || pair.threads == 0 || pair.threads == threads_of(plan))
      continue;  // 0: of an older version, unknown
    fail_usage("going on with a table",
               fmt::format("--threads {}, with which {} on {} was trained", pair.threads, pair.model, pair.benchmark),
               std::to_string(threads_of(plan)), "choose another --out");
  }
  for (const std::string& benchmark : plan.benchmarks) {
    for (const std::string& model : plan.models) {
      const fs::path own = pair_folder(folder, benchmark, model);
      recipe_of(plan, benchmark, model);  // says what is wrong with it
      if (!fs::exists(pair_file(own))) continue;
      if (const Pair pair = pair_from(pair_file(own)); pair.epochs > 0) fixed_recipe(plan, own, pair);
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
  for (const std::string& benchmark : plan.benchmarks) {
    for (const std::string& model : plan.models) {
      if (interrupted()) return;
      const fs::path own = pair_folder(folder, benchmark, model);
      listener.say(fmt::format("== {} on {}", model, benchmark));
      finish_pair(plan, own, benchmark, model, hashes.at(benchmark), listener);
      if (!fs::exists(pair_file(own))) continue;
      const Pair pair = pair_from(pair_file(own));
      if (const std::string why = pair.reason(); !why.empty()) listener.say(why);
      see(pair);
    }
  }
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
