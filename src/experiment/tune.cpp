// Rung r trains each trial that is left for epochs * keep^(rungs - 1 - r) epochs from scratch, then drops all but the
// best share. A longer rung does not continue the shorter one: learning-rate schedules run over the whole of a
// training, so a long run cut short would be evaluated in mid-cycle at a high rate, where no run ends. With keep 1/3
// and three rungs every rung costs about the same; all of them cost about rungs * trials * keep^(rungs - 1) full
// trainings.
#include "experiment/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/folder_lock.h"
#include "core/strict_json.h"
#include "data/dataset.h"
#include "experiment/finish_run.h"
#include "experiment/seeds.h"
#include "run/run_folder.h"
#include "train/trainer.h"

namespace lano {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t kMostRedraws = 100;

void check_plan(const TunePlan& plan) {
  const auto require = [](bool good, const char* expected, auto found) {
    if (!good) fail_usage("tuning", expected, fmt::format("{}", found));
  };
  if (plan.base.data.empty())
    fail_usage_plainly("tuning", "no dataset is given", "give it with --data FILE or data.file");
  if (plan.vary.empty())
    fail_usage_plainly("tuning", "no key to vary is given", "give --vary KEY=LOW..HIGH or --vary KEY=a,b,c");
  require(plan.base.train_on == TrainOn::train, "data.train_on = \"train\": trials are compared on validation",
          "\"train+validation\"");
  require(plan.trials >= 1, "--trials of at least 1", plan.trials);
  require(plan.rungs >= 1, "--rungs of at least 1", plan.rungs);
  require(plan.keep > 0 && plan.keep < 1, "--keep between 0 and 1", plan.keep);
  require(plan.seed >= 0, "--seed of at least 0", plan.seed);
  for (auto key = plan.vary.begin(); key != plan.vary.end(); ++key) {
    const auto same = [&](const VariedKey& other) { return other.name == key->name; };
    require(std::none_of(plan.vary.begin(), key, same), "each key varied once", key->name);
    if (key->name == "data.train_on")
      fail_usage_plainly("tuning", "data.train_on cannot be varied: trials are compared on validation");
  }
}

// A new folder gets the plan; one that has a plan must have this one.
void keep_plan(const TunePlan& plan, const std::filesystem::path& folder) {
  const std::string doing = fmt::format("tuning into '{}'", folder.string());
  if (std::filesystem::exists(config_file(folder)) || is_seed_group(folder)) {
    fail(doing, "a new folder, or one of a search", "a training", "choose another --out");
  }
  ordered_json wanted{{"base", to_toml(plan.base)}, {"vary", ordered_json::array()},
                      {"trials", plan.trials},      {"rungs", plan.rungs},
                      {"keep", plan.keep},          {"seed", plan.seed}};
  for (const VariedKey& key : plan.vary) wanted["vary"].push_back(key.text);
  const auto path = folder / "tune.json";
  if (!std::filesystem::exists(path)) {
    make_folder(folder);
    write_file_atomically(path, wanted.dump(1) + "\n");
    return;
  }
  std::vector<std::string> differences;
  try {
    const auto found = ordered_json::parse(read_file(path, "reading"));
    for (const auto& [name, value] : wanted.items()) {
      if (found.at(name) == value) continue;
      differences.push_back(name == "base" ? "another recipe or dataset"
                                           : fmt::format("{} {}", name, found.at(name).dump()));
    }
  } catch (const ordered_json::exception& error) {
    fail(fmt::format("reading '{}'", path.string()), "the plan of a search", json_reason(error),
         "remove the file and give the same command again; finished runs are kept");
  }
  if (!differences.empty()) {
    fail_usage_plainly(doing, fmt::format("the search there was started with {}", fmt::join(differences, ", ")),
                       "give the same options to resume it, or choose another --out");
  }
}

TrainConfig config_of(const TunePlan& plan, const std::vector<ConfigValue>& values) {
  TrainConfig config = plan.base;
  for (std::size_t k = 0; k < values.size(); ++k) set_key(config, plan.vary[k].name, values[k]);
  return config;
}

std::string epochs_text(std::int64_t epochs) { return fmt::format("{} epoch{}", epochs, epochs == 1 ? "" : "s"); }

std::string values_text(const TunePlan& plan, const TuneTrial& trial) {
  std::vector<std::string> parts;
  for (std::size_t k = 0; k < plan.vary.size(); ++k)
    parts.push_back(plan.vary[k].name + "=" + value_text(trial.values[k]));
  return fmt::format("{}", fmt::join(parts, " "));
}

// Trains a trial in a rung, or reads what came of it before. False: stopped, to be resumed.
bool run_trial(const TunePlan& plan, std::size_t rung, const std::filesystem::path& folder, TuneTrial& trial,
               Listener& listener) {
  const auto own = folder / fmt::format("trial-{:03}", trial.number);
  const auto failure = own / "failed.json";
  const auto fails_with = [&](std::string sentence) {
    sentence = sentence.substr(0, sentence.find('\n'));  // libraries add their call stack
    listener.say(fmt::format("trial {} failed: {}", trial.number, sentence));
    make_folder(own);
    write_file_atomically(failure, ordered_json{{"rung", rung}, {"error", sentence}}.dump(1) + "\n");
    trial.error = sentence;
    trial.state = TrialState::failed;
  };
  if (std::filesystem::exists(failure)) {
    try {
      const auto found = ordered_json::parse(read_file(failure, "reading"));
      if (found.at("rung") == rung) {
        trial.error = found.at("error");
        trial.state = TrialState::failed;
        return true;
      }
    } catch (const ordered_json::exception& error) {
      fail(fmt::format("reading '{}'", failure.string()), "a rung and an error", json_reason(error),
           "remove the file to train it again");
    }
  }
  TrainConfig config = config_of(plan, trial.values);
  config.epochs = rung_epochs(plan)[rung];
  try {
    const std::string title = fmt::format("trial {} of {}, rung {} of {}, {}: {}", trial.number, plan.trials, rung,
                                          plan.rungs, epochs_text(config.epochs), values_text(plan, trial));
    const auto outcome = finish_run(config, own / fmt::format("rung-{}", rung), title, listener, false);
    if (!outcome) return false;
    if (std::isfinite(outcome->validation_l2)) {
      trial.validation_l2.push_back(outcome->validation_l2);
    } else {
      fails_with("training: the validation error is not finite");
    }
  } catch (const std::bad_alloc&) {
    fails_with("training: there is not enough memory.");
  } catch (const DivergedError& error) {
    fails_with(error.what());
  } catch (const UsageError& error) {  // a recipe that does not fit the dataset
    fails_with(error.what());
  }
  return true;
}

bool is_better(const TuneTrial& a, const TuneTrial& b) {
  if ((a.state == TrialState::failed) != (b.state == TrialState::failed)) return b.state == TrialState::failed;
  if (a.validation_l2.size() != b.validation_l2.size()) return a.validation_l2.size() > b.validation_l2.size();
  if (!a.validation_l2.empty() && a.validation_l2.back() != b.validation_l2.back()) {
    return a.validation_l2.back() < b.validation_l2.back();
  }
  return a.number < b.number;
}

std::vector<TuneTrial> best_first(std::vector<TuneTrial> trials) {
  std::sort(trials.begin(), trials.end(), is_better);
  return trials;
}

void write_tables(const TunePlan& plan, const std::filesystem::path& folder, const std::vector<TuneTrial>& trials) {
  const auto sorted = best_first(trials);
  write_file_atomically(folder / "tune.csv", tune_csv(plan, sorted));
  write_file_atomically(folder / "tune.md", tune_markdown(plan, sorted));
}

const char* state_name(TrialState state) {
  switch (state) {
    case TrialState::waiting:
      return "waiting";
    case TrialState::dropped:
      return "dropped";
    case TrialState::failed:
      return "failed";
    case TrialState::finished:
      return "finished";
    case TrialState::best:
      return "best";
  }
  return "?";
}

std::string csv_quoted(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string inner;
  for (const char c : text) inner.append(c == '"' ? 2 : 1, c);
  return fmt::format("\"{}\"", inner);
}

}  // namespace

std::vector<std::int64_t> rung_epochs(const TunePlan& plan) {
  std::vector<std::int64_t> epochs;
  for (std::int64_t rung = 0; rung < plan.rungs; ++rung) {
    const double share = std::pow(plan.keep, static_cast<double>(plan.rungs - 1 - rung));
    epochs.push_back(std::max<std::int64_t>(1, std::llround(static_cast<double>(plan.base.epochs) * share)));
  }
  return epochs;
}

std::int64_t kept_trials(std::int64_t trials, double keep) {
  // Less a hair: 0.1 * 30 may be a hair above 3 in binary.
  return static_cast<std::int64_t>(std::ceil(keep * static_cast<double>(trials) - 1e-9));
}

std::vector<TuneTrial> draw_trials(const TunePlan& plan, const SetDescription& set) {
  std::vector<TuneTrial> trials;
  for (std::int64_t number = 0; number < plan.trials; ++number) {
    TuneTrial trial;
    trial.number = number;
    for (;;) {
      RandomStream stream(static_cast<std::uint64_t>(plan.seed), Purpose::tune, static_cast<std::uint64_t>(number),
                          static_cast<std::uint64_t>(trial.redraws));
      trial.values.clear();
      for (const VariedKey& key : plan.vary) trial.values.push_back(draw(key, stream));
      try {
        const TrainConfig config = config_of(plan, trial.values);
        check_train_config(config);
        lano_shape(config.lano, set, {});  // agents that make no patch grid of this dataset
        break;
      } catch (const UsageError& error) {
        if (++trial.redraws > kMostRedraws) {
          fail_usage_plainly(fmt::format("drawing trial {}", number),
                             fmt::format("no valid config in {} draws; the last had {}: {}", kMostRedraws + 1,
                                         values_text(plan, trial), error.what()));
        }
      }
    }
    trials.push_back(std::move(trial));
  }
  return trials;
}

TuneResult run_tune(const TunePlan& plan, const std::filesystem::path& folder, Listener& listener) {
  check_plan(plan);
  const DatasetReader reader(plan.base.data);
  if (reader.indices(Split::validation).empty()) {
    fail_plainly("tuning", "the dataset has no validation split", "import with a validation share");
  }
  std::vector<TuneTrial> trials = draw_trials(plan, reader.description());
  keep_plan(plan, folder);
  const FolderLock lock(folder, fmt::format("tuning into '{}'", folder.string()));
  std::vector<TuneTrial*> left;
  for (TuneTrial& trial : trials) left.push_back(&trial);
  for (std::int64_t rung = 0; rung < plan.rungs; ++rung) {
    const std::int64_t next =
        rung + 1 < plan.rungs ? kept_trials(static_cast<std::int64_t>(left.size()), plan.keep) : 1;
    for (TuneTrial* trial : left) {
      if (!run_trial(plan, static_cast<std::size_t>(rung), folder, *trial, listener))
        return {best_first(trials), false};
      write_tables(plan, folder, trials);
    }
    std::erase_if(left, [](const TuneTrial* trial) { return trial->state == TrialState::failed; });
    if (left.empty()) {
      fail_plainly(fmt::format("tuning into '{}'", folder.string()),
                   fmt::format("every trial failed; trial 0: {}", trials[0].error));
    }
    std::sort(left.begin(), left.end(), [](const TuneTrial* a, const TuneTrial* b) { return is_better(*a, *b); });
    const TrialState lost = rung + 1 < plan.rungs ? TrialState::dropped : TrialState::finished;
    for (std::size_t i = static_cast<std::size_t>(next); i < left.size(); ++i) left[i]->state = lost;
    if (static_cast<std::size_t>(next) < left.size()) left.resize(static_cast<std::size_t>(next));
    std::sort(left.begin(), left.end(), [](const TuneTrial* a, const TuneTrial* b) { return a->number < b->number; });
  }
  left[0]->state = TrialState::best;
  write_tables(plan, folder, trials);
  write_file_atomically(folder / "best.toml", to_toml(config_of(plan, left[0]->values)));
  return {best_first(trials), true};
}

std::string tune_csv(const TunePlan& plan, const std::vector<TuneTrial>& best_first) {
  std::string text = "trial";
  for (const VariedKey& key : plan.vary) text += fmt::format(",{}", key.name);
  for (std::int64_t rung = 0; rung < plan.rungs; ++rung) text += fmt::format(",validation_l2_rung_{}", rung);
  text += ",state,redraws,error\n";
  for (const TuneTrial& trial : best_first) {
    text += std::to_string(trial.number);
    for (const ConfigValue& value : trial.values) text += fmt::format(",{}", csv_quoted(value_text(value)));
    for (std::size_t rung = 0; rung < static_cast<std::size_t>(plan.rungs); ++rung) {
      text += rung < trial.validation_l2.size() ? fmt::format(",{:.9g}", trial.validation_l2[rung]) : ",";
    }
    text += fmt::format(",{},{},{}\n", state_name(trial.state), trial.redraws, csv_quoted(trial.error));
  }
  return text;
}

std::string tune_markdown(const TunePlan& plan, const std::vector<TuneTrial>& best_first) {
  std::int64_t redraws = 0;
  for (const TuneTrial& trial : best_first) redraws += trial.redraws;
  std::string text = fmt::format(
      "{} trials, {} rungs, keep {}, seed {}; relative L2 on validation, best first. The test split was not read.\n"
      "Draws that gave no valid config and were repeated: {}.\n\n| trial |",
      plan.trials, plan.rungs, plan.keep, plan.seed, redraws);
  for (const VariedKey& key : plan.vary) text += fmt::format(" {} |", key.name);
  const auto epochs = rung_epochs(plan);
  for (std::size_t rung = 0; rung < epochs.size(); ++rung)
    text += fmt::format(" rung {}: {} |", rung, epochs_text(epochs[rung]));
  text += " state |\n|";
  for (std::size_t column = 0; column < plan.vary.size() + epochs.size() + 2; ++column) text += "---|";
  text += "\n";
  std::string failures;
  for (const TuneTrial& trial : best_first) {
    text += fmt::format("| {} |", trial.number);
    for (const ConfigValue& value : trial.values) text += fmt::format(" {} |", value_text(value));
    for (std::size_t rung = 0; rung < epochs.size(); ++rung) {
      text += rung < trial.validation_l2.size() ? fmt::format(" {:.4e} |", trial.validation_l2[rung]) : " |";
    }
    text += fmt::format(" {} |\n", state_name(trial.state));
    if (!trial.error.empty()) failures += fmt::format("- trial {} failed: {}\n", trial.number, trial.error);
  }
  return failures.empty() ? text : text + "\n" + failures;
}

}  // namespace lano
