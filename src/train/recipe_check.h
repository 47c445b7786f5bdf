// Whether a recipe can be trained on a dataset: checked, with an error message, before anything is computed or written.
#pragma once

#include "core/set_description.h"
#include "train/config.h"
#include "train/split_survey.h"

namespace lano {

// Frames of a sample that training starts from: 1 of a steady dataset; a roll-out needs its steps ahead of it. May be
// below 1, which is refused.
std::int64_t training_starts(const TrainConfig& config, const SetDescription& set);

// That a dataset with times is learned in time, and one without is not.
void check_task_fits(Task task, const SetDescription& set);

void check_recipe_fits(const TrainConfig& config, const SetDescription& set, const SplitSurvey& survey,
                       bool has_validation);

}  // namespace lano
