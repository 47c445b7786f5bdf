#include "experiment/pair_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/ranks.h"
#include "core/resident_memory.h"
#include "data/dataset.h"
#include "data/sample_feed.h"
#include "evaluate/loaded_model.h"
#include "run/run_folder.h"
#include "run/run_record.h"
#include "train/recipe_check.h"
#include "train/split_survey.h"
#include "train/trainer.h"
#include "train/training_set.h"

namespace lano {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLeastSteps = 4, kUntimedSteps = 2;

struct WarmedUp {};  // ends a warm-up that knows enough

double mean(const std::vector<double>& values) {
  return values.empty() ? 0 : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Whether any rank says so, on all of them.
bool any_says(bool mine) {
  if (ranks().alone()) return mine;
  const std::vector<std::string> all = ranks().gather(std::string_view(mine ? "yes" : ""));
  return std::any_of(all.begin(), all.end(), [](const std::string& said) { return !said.empty(); });
}

// The model file as a user has it, by the code that evaluates every model.
void judge_on_validation(const TrainConfig& config, const fs::path& run) {
  const DatasetReader reader = open_training_set(config);
  const LoadedModel model = load_model(model_file(run));
  write_validation(run, judge_in_pieces(*model.predictor, reader, reader.indices(Split::validation), kPieceBytes));
}

}  // namespace

Pace pace_of(const StepTimes& times, double validation_steps) {
  Pace pace;
  if (!times.inside.empty()) {
    pace.step_seconds = mean(times.inside);
    pace.validation_seconds = times.between.empty() ? validation_steps * pace.step_seconds
                                                    : std::max(0.0, mean(times.between) - pace.step_seconds);
  } else if (!times.between.empty()) {  // one step per epoch: the two cannot be told apart
    pace.step_seconds = mean(times.between);
  } else if (times.first.size() > 1) {  // interrupted; the very first step makes what later ones find
    pace.step_seconds = mean({times.first.begin() + 1, times.first.end()});
    pace.validation_seconds = validation_steps * pace.step_seconds;
  }
  return pace;
}

Pace measure_pace(const TrainConfig& config, const fs::path& scratch, double seconds) {
  if (config.points > 0 && config.points_share < 1) {  // two kinds of steps
    TrainConfig coarse = config, fine = config;
    coarse.points_share = 1;
    fine.points = 0;
    const Pace few = measure_pace(coarse, scratch, seconds / 2);
    Pace mixed = measure_pace(fine, scratch, seconds / 2);
    mixed.step_seconds = config.points_share * few.step_seconds + (1 - config.points_share) * mixed.step_seconds;
    return mixed;
  }
  TrainConfig warm = config;
  warm.epochs = 1000000;  // it is ended from within
  warm.epoch_samples = 0;
  warm.checkpoint_steps = 0;
  warm.patience = 0;
  warm.schedule.kind =
      ScheduleKind::constant;  // a whole course of the rate in a few steps would throw the weights about
  warm.schedule.learning_rate *= 1e-3;
  const DatasetReader reader = open_training_set(config);
  const std::int64_t starts = training_starts(config, reader.description()),
                     step_samples = config.batch * config.accumulate;
  const std::int64_t items = static_cast<std::int64_t>(training_ids(reader, config.train_on).size()) * starts;
  const std::int64_t epoch_steps = std::max<std::int64_t>(1, (items + step_samples - 1) / step_samples);
  // Means, not medians: other work on the machine takes its share of the budget, too.
  StepTimes times;
  auto last = Clock::now();
  const auto begun = last;
  TrainOptions options;
  options.test = false;
  options.after_step = [&](std::int64_t step) {
    const auto now = Clock::now();
    const double took = std::chrono::duration<double>(now - last).count();
    last = now;
    (step <= kUntimedSteps           ? times.first
     : (step - 1) % epoch_steps == 0 ? times.between
                                     : times.inside)
        .push_back(took);
    if (any_says(interrupted() ||
                 (step >= kLeastSteps && std::chrono::duration<double>(now - begun).count() > seconds)))
      throw WarmedUp();
  };
  const auto clear = [&] {
    std::error_code ignored;
    if (ranks().first()) fs::remove_all(scratch, ignored);
  };
  clear();
  try {
    train(warm, scratch, options);
  } catch (const WarmedUp&) {
  }
  clear();
  const auto looked_at =
      static_cast<double>(validation_ids(reader, config.train_on).size()) * static_cast<double>(starts);
  Pace pace =
      pace_of(times, looked_at / (3.0 * static_cast<double>(step_samples)));  // a prediction is about a third of a step
  pace.items = items;
  // All ranks took the steps together, and must come to the same choice.
  const std::vector<double> first = ranks().gather(
      ranks().first() ? std::vector<double>{pace.step_seconds, pace.validation_seconds} : std::vector<double>());
  pace.step_seconds = first[0];
  pace.validation_seconds = first[1];
  return pace;
}

double epoch_seconds(const TrainConfig& config, const Pace& pace) {
  const std::int64_t step_samples = config.batch * config.accumulate;
  const std::int64_t steps = (pace.items + step_samples - 1) / step_samples;
  return static_cast<double>(steps) * pace.step_seconds + pace.validation_seconds;
}

TrainConfig fit_to_budget(TrainConfig config, const Pace& pace, double seconds) {
  constexpr std::int64_t kManyEpochs = 10;  // beyond these the last whole one is waste enough to fill the budget
  const std::int64_t step_samples = config.batch * config.accumulate;
  const double budget = 0.95 * seconds, epoch = epoch_seconds(config, pace);
  config.epoch_samples = 0;
  config.epochs = static_cast<std::int64_t>(std::clamp(budget / std::max(epoch, 1e-9), 0.0, 1e6));
  if (config.epochs >= kManyEpochs) return config;
  // Few: as many equal ones as fill the budget, each with a part of the samples.
  config.epochs += 1;
  const double each =
      (budget / static_cast<double>(config.epochs) - pace.validation_seconds) / std::max(pace.step_seconds, 1e-9);
  config.epoch_samples =
      std::min(pace.items, step_samples * std::max<std::int64_t>(1, static_cast<std::int64_t>(each)));
  return config;
}

int run_pair_child(const TrainConfig& config, const fs::path& run, const fs::path& result, const PairWork& work,
                   Listener& listener) {
  nlohmann::json out;
  int code = 1;
  try {
    if (work.measure > 0) {
      const Pace pace = measure_pace(config, run, work.measure);
      out = {{"state", "measured"},
             {"step_seconds", pace.step_seconds},
             {"validation_seconds", pace.validation_seconds},
             {"items", pace.items}};
    } else {
      TrainOptions options;
      options.resume = true;
      options.test = work.test;
      options.listener = &listener;
      const bool finished = train(config, run, options).finished;
      if (finished && !work.test) judge_on_validation(config, run);
      out["state"] = finished ? "finished" : "stopped";
    }
    code = interrupted() ? 130 : 0;
  } catch (const DivergedError& error) {
    out = {{"state", "diverged"}, {"sentence", error.what()}};
  } catch (const UsageError& error) {
    out = {{"state", "refused"}, {"sentence", error.what()}};
    code = 2;
  } catch (const std::exception& error) {
    out = {{"state", "failed"}, {"sentence", error.what()}};
  }
  out["peak_bytes"] = resident_high_water();
  write_file_atomically(result, out.dump() + "\n");
  return code;
}

}  // namespace lano
