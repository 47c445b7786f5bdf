// One run of a group (an ablation, seeds, a search): trained where it is not finished, kept where it is, and what it
// came to. A run is finished when its evaluation.json is there, which the trainer writes last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "train/config.h"

namespace lano {

struct RunOutcome {
  std::int64_t parameters = 0, epochs = 0, best_epoch = 0;
  double training_seconds = 0;            // validation included
  double validation_l2 = 0, test_l2 = 0;  // NaN where the split is missing or was not read
};

// Of a finished run.
RunOutcome read_outcome(const std::filesystem::path& run);

// A finished run is read, an unfinished one resumed, a missing one trained; `title` ("seed 3") says to the reader which
// it is. A run of another config in that folder is an error. No value: stopped before its end, to be resumed.
std::optional<RunOutcome> finish_run(const TrainConfig& config, const std::filesystem::path& run,
                                     const std::string& title, bool test = true);

}  // namespace lano
