#include "train/recipe_check.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "train/sample_changes.h"

namespace lano {
namespace {

constexpr const char* kDoing = "training";

std::int64_t learned_frames(const TrainConfig& config, const SetDescription& set) {
  const auto known = set.time.empty() ? 1 : static_cast<std::int64_t>(set.time.size());
  return config.frames > 0 ? std::min(config.frames, known) : known;
}

std::string geometry_text(const SetDescription& set) {
  return fmt::format("{} {}", geometry_name(set.geometry), shape_text(set.shape));
}

void check_task(const TrainConfig& config, const SetDescription& set) {
  const Task task = config.lano.task;
  check_task_fits(task, set);
  const std::int64_t frames = learned_frames(config, set);
  if (training_starts(config, set) < 1) {
    const std::int64_t state = chosen_state_frames(config.lano, set);
    fail_usage(kDoing,
               state == 1
                   ? fmt::format("more than {} frames for train.rollout", config.rollout)
                   : fmt::format("at least {} frames for model.state_frames and train.rollout", state + config.rollout),
               std::to_string(frames));
  }
  const std::int64_t weighted = task == Task::autoregressive ? config.rollout : task == Task::steady ? 0 : frames;
  const auto given = static_cast<std::int64_t>(config.loss.frame_weights.size());
  if (given != 0 && given != weighted) {
    fail_usage(kDoing,
               fmt::format("{} train.frame_weights, one per {}", weighted,
                           task == Task::autoregressive ? "rolled-out step" : "frame"),
               std::to_string(given));
  }
}

void check_loss(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey) {
  const auto weights = static_cast<std::int64_t>(config.loss.channel_weights.size());
  if (weights != 0 && weights != set.output_channels()) {
    fail_usage(kDoing, fmt::format("{} train.channel_weights, one per output channel", set.output_channels()),
               std::to_string(weights));
  }
  if (config.loss.gradient_weight == 0) return;
  const bool thick = std::all_of(set.shape.begin(), set.shape.end(), [](std::int64_t extent) { return extent >= 3; });
  if (survey.spacing.empty() || !thick) {
    fail_usage(kDoing, "a uniform grid of at least 3 points per axis for train.gradient_weight", geometry_text(set),
               "set train.gradient_weight = 0");
  }
}

void check_samples(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey) {
  if (config.points > 0 && set.geometry != Geometry::points)
    fail_usage(kDoing, "a point cloud for train.points", geometry_text(set));
  check_augment(config.augment, set, survey.spacing, survey.origin);
  if (config.augment != Augment::none && config.lano.task != Task::steady)
    fail_usage_plainly(kDoing, "train.augment is for steady datasets, and this one is time-dependent",
                       "set train.augment = \"none\"");
}

}  // namespace

void check_task_fits(Task task, const SetDescription& set) {
  if (task == Task::steady && !set.time.empty()) {
    fail_usage(kDoing, "a dataset without times for model.task = \"steady\"",
               fmt::format("'{}' with output at {} times", set.name, set.time.size()),
               "set model.task to autoregressive (steps from frame to frame) or time_conditional (a function of time), "
               "or data.times = \"channels\" (all times at once)");
  }
  if (task != Task::steady && set.time.empty()) {
    fail_usage(kDoing,
               fmt::format("a dataset with output at several times for model.task = \"{}\"",
                           task == Task::autoregressive ? "autoregressive" : "time_conditional"),
               fmt::format("'{}', which has no times", set.name), "set model.task to steady");
  }
}

std::int64_t training_starts(const TrainConfig& config, const SetDescription& set) {
  const std::int64_t frames = learned_frames(config, set);
  return config.lano.task == Task::autoregressive
             ? frames - config.rollout - (chosen_state_frames(config.lano, set) - 1)
             : frames;
}

void check_recipe_fits(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey,
                       bool has_validation) {
  if (!has_validation && (config.selection == Selection::best || config.patience > 0)) {
    fail_usage_plainly(kDoing,
                       fmt::format("{} needs a validation split, and the dataset has none",
                                   config.patience > 0 ? "train.patience" : "train.selection = \"best\""),
                       "import with a validation share, or --set train.selection=last");
  }
  check_task(config, set);
  check_samples(config, set, survey);
  check_loss(config, set, survey);
}

}  // namespace lano
