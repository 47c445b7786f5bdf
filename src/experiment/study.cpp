#include "experiment/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/interrupt.h"
#include "core/strict_json.h"
#include "data/sample_feed.h"
#include "evaluate/loaded_model.h"
#include "evaluate/set_fit.h"
#include "run/run_folder.h"
#include "run/run_record.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

std::string doing_of(const StudyPlan& plan, const Variant& variant) {
  return fmt::format("studying {}: {} on {}", plan.name, variant.name, variant.benchmark);
}

const Variant& variant_named(const StudyPlan& plan, const std::string& benchmark, const std::string& name) {
  for (const Variant& variant : plan.variants) {
    if (variant.benchmark == benchmark && variant.name == name) return variant;
  }
  fail_plainly(fmt::format("studying {}", plan.name), fmt::format("{} has no variant '{}'", benchmark, name));
}

fs::path answers_file(const fs::path& run) { return run / "answers.json"; }

// Of a run's model: question -> evaluation in short. A file that cannot be read counts as missing: it is made again.
json read_answers(const fs::path& run) {
  if (!fs::exists(answers_file(run))) return json::object();
  json answers = json::parse(read_file(answers_file(run), "reading"), nullptr, false);
  return answers.is_object() ? answers : json::object();
}

json ask(LoadedModel& model, const Question& question) {
  const DatasetReader reader = open_dataset(question.data, model.predictor->task());
  check_fits(model.about.set, reader.description(), fmt::format("asking a model on '{}'", question.data.string()));
  const std::int64_t used = question.agents > 0 ? model.predictor->use_agents(question.agents) : 0;
  const Evaluation found = judge_in_pieces(*model.predictor, reader, reader.indices(Split::test), kPieceBytes);
  return {{"agents", used},
          {"relative_l2", found.relative_l2.summary.mean},
          {"step_l2", found.step_l2},
          {"first_frame", found.first_frame}};
}

// Evaluates what is not evaluated yet; the model is loaded once.
void ask_questions(const Variant& variant, const fs::path& run, Listener& listener) {
  json answers = read_answers(run);
  std::optional<LoadedModel> model;
  for (const Question& question : variant.questions) {
    if (interrupted()) return;
    if (answers.contains(question.name)) continue;
    if (!model) model = load_model(model_file(run));
    listener.say(fmt::format("   evaluated {}: {}", question.place.label, question.data.filename().string()));
    answers[question.name] = ask(*model, question);
    if (question.agents > 0) model.reset();  // the next question begins with the agents of the training
    write_file_atomically(answers_file(run), answers.dump(1) + "\n");
  }
}

// The epochs of one variant; false where it cannot be trained, which its runs then say.
bool fix_epochs_of(const StudyPlan& plan, const fs::path& folder, const Variant& variant, RecipeRuns& runs,
                   Listener& listener) {
  const fs::path own = variant_folder(folder, variant);
  if (!variant.epochs_of.empty()) {
    const RecipeRuns other =
        read_runs(variant_folder(folder, variant_named(plan, variant.benchmark, variant.epochs_of)));
    if (other.epochs == 0) return false;
    take_epochs(variant.recipe, other, own, runs);
    return true;
  }
  std::optional<Pace> pace;
  if (plan.minutes > 0) {
    listener.say(fmt::format("== {} on {}: measuring its pace", variant.place.label, variant.benchmark));
    pace = ask_pace({plan.program, plan.threads, true}, variant.recipe, own, pace_seconds(plan.minutes), runs);
    if (!pace) return false;
  }
  fix_epochs(variant.recipe, pace, plan.minutes, own, runs);
  if (pace) listener.say(epochs_sentence(runs));
  return true;
}

// Before the first training: what the machine does later changes none of them. Those that take another's come last.
void fix_all_epochs(const StudyPlan& plan, const fs::path& folder, const std::map<std::string, std::string>& hashes,
                    Listener& listener) {
  for (const bool takes_epochs : {false, true}) {
    for (const Variant& variant : plan.variants) {
      if (interrupted()) return;
      if (variant.epochs_of.empty() == takes_epochs) continue;
      const fs::path own = variant_folder(folder, variant);
      make_folder(own);
      RecipeRuns runs = read_runs(own);
      if (runs.epochs > 0) continue;
      runs.threads = threads_of(plan.threads);
      runs.set = hashes.at(variant.recipe.data);
      const bool fixed = fix_epochs_of(plan, folder, variant, runs, listener);
      if (interrupted()) return;
      write_runs(own, runs);
      if (!fixed) listener.say(runs.reason());
    }
  }
}

void train_variant(const StudyPlan& plan, const Variant& variant, const fs::path& own, std::int64_t seed,
                   Listener& listener) {
  RecipeRuns runs = read_runs(own);
  const SeedOutcome* const known = find_outcome(runs, seed);
  const std::string title = fmt::format("{} on {}, seed {}", variant.place.label, variant.benchmark, seed);
  if (known != nullptr && known->settled()) {
    listener.say(fmt::format("== {}: {} before, kept", title, known->state));
  } else {
    listener.say(fmt::format("== {}", title));
    train_seed({plan.program, plan.threads, true}, own, seed, runs);
    write_runs(own, runs);
  }
  const SeedOutcome* const now = find_outcome(runs, seed);
  if (now->state == "finished") return ask_questions(variant, seed_folder(own, seed), listener);
  listener.say(now->sentence.empty() ? now->state : fmt::format("{}: {}", now->state, now->sentence));
}

std::map<std::string, std::string> hashes_of_sets(const StudyPlan& plan) {
  std::map<std::string, std::string> hashes;
  for (const Variant& variant : plan.variants) {
    if (!hashes.contains(variant.recipe.data)) hashes[variant.recipe.data] = set_hash(variant.recipe.data);
  }
  return hashes;
}

StudyRow row_of(const Variant& variant, const Place& place, const RecipeRuns& runs) {
  StudyRow row;
  row.benchmark = variant.benchmark;
  row.place = place;
  row.reason = runs.reason();
  return row;
}

void add_seed(StudyRow& row, const RecipeRuns& runs, const SeedOutcome& seed, double error,
              const std::vector<double>& steps, std::int64_t first_frame) {
  const auto before = static_cast<double>(row.errors.size());
  const auto running = [&](double mean, double value) { return (mean * before + value) / (before + 1); };
  row.parameters = seed.parameters;
  row.passes = running(row.passes, runs.passes(seed));
  row.seconds = running(row.seconds, seed.training_seconds);
  row.first_frame = first_frame;
  if (row.step_l2.empty()) row.step_l2.assign(steps.size(), 0);
  for (std::size_t t = 0; t < std::min(steps.size(), row.step_l2.size()); ++t)
    row.step_l2[t] = running(row.step_l2[t], steps[t]);
  row.errors.push_back(error);
}

}  // namespace

double StudyRow::mean() const {
  return errors.empty() ? std::nan("")
                        : std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size());
}

fs::path variant_folder(const fs::path& folder, const Variant& variant) {
  return folder / variant.benchmark / variant.name;
}

void check_study(const StudyPlan& plan, const fs::path& folder) {
  const std::string doing = fmt::format("studying {}", plan.name);
  if (plan.seeds < 1) fail_usage(doing, "at least one seed", std::to_string(plan.seeds));
  if (!(plan.minutes >= 0)) fail_usage(doing, "--minutes of at least 0", fmt::format("{}", plan.minutes));
  std::set<std::string> names;
  for (const Variant& variant : plan.variants) {
    if (!names.insert(variant.benchmark + "/" + variant.name).second)
      fail_usage(doing, "variants with different names", fmt::format("two named '{}'", variant.name));
    check_train_config(variant.recipe);
    const fs::path own = variant_folder(folder, variant);
    const RecipeRuns runs = read_runs(own);
    if (runs.epochs == 0) continue;
    const auto require = [&](bool good, const std::string& expected, const std::string& found) {
      if (!good) fail_usage(doing_of(plan, variant), expected, found, "choose another --out");
    };
    require(runs.minutes == plan.minutes, fmt::format("--minutes {:g}, with which its runs were trained", runs.minutes),
            fmt::format("{:g}", plan.minutes));
    require(runs.threads == threads_of(plan.threads),
            fmt::format("--threads {}, with which its runs were trained", runs.threads),
            std::to_string(threads_of(plan.threads)));
    fixed_recipe(variant.recipe, own, runs, doing_of(plan, variant));
  }
}

void run_study(const StudyPlan& plan, const fs::path& folder, const std::function<void()>& see, Listener& listener) {
  check_study(plan, folder);
  const auto hashes = hashes_of_sets(plan);
  for (const Variant& variant : plan.variants) {
    const RecipeRuns runs = read_runs(variant_folder(folder, variant));
    if (runs.epochs > 0 && runs.set != hashes.at(variant.recipe.data))
      fail_usage_plainly(doing_of(plan, variant),
                         fmt::format("'{}' is not the dataset its runs were trained on", variant.recipe.data),
                         "choose another --out");
  }
  make_folder(folder);
  const FolderLock lock(folder, fmt::format("training into '{}'", folder.string()));
  fix_all_epochs(plan, folder, hashes, listener);
  const std::int64_t first = plan.variants.empty() ? 0 : plan.variants.front().recipe.seed;
  for (std::int64_t seed = first; seed < first + plan.seeds; ++seed) {
    for (const Variant& variant : plan.variants) {
      if (interrupted()) return;
      const fs::path own = variant_folder(folder, variant);
      const RecipeRuns runs = read_runs(own);
      if (runs.epochs == 0) continue;  // cannot be trained
      // With the place of the dataset as it is now.
      write_file_atomically(own / "recipe.toml",
                            to_toml(fixed_recipe(variant.recipe, own, runs, doing_of(plan, variant))));
      train_variant(plan, variant, own, seed, listener);
      see();
    }
  }
}

std::vector<StudyRow> read_study(const StudyPlan& plan, const fs::path& folder) {
  std::vector<StudyRow> rows;
  for (const Variant& variant : plan.variants) {
    const fs::path own = variant_folder(folder, variant);
    const RecipeRuns runs = read_runs(own);
    std::vector<StudyRow> mine;
    mine.push_back(row_of(variant, variant.place, runs));
    for (const Question& question : variant.questions) mine.push_back(row_of(variant, question.place, runs));
    for (const SeedOutcome& seed : runs.seeds) {
      if (seed.state != "finished") continue;
      const fs::path run = seed_folder(own, seed.seed);
      const RunRecord record = read_run_record(run);
      if (record.test)
        add_seed(mine.front(), runs, seed, record.test_l2(), record.test->step_l2, record.test->first_frame);
      const json answers = read_answers(run);
      for (std::size_t q = 0; q < variant.questions.size(); ++q) {
        const auto found = answers.find(variant.questions[q].name);
        if (found == answers.end()) continue;
        add_seed(mine[q + 1], runs, seed, found->value("relative_l2", std::nan("")),
                 found->value("step_l2", std::vector<double>{}), found->value("first_frame", std::int64_t{0}));
      }
    }
    for (const Place& place : variant.also) {
      mine.push_back(mine.front());
      mine.back().place = place;
    }
    if (!variant.shown) mine.erase(mine.begin());
    rows.insert(rows.end(), std::make_move_iterator(mine.begin()), std::make_move_iterator(mine.end()));
  }
  return rows;
}

}  // namespace lano
