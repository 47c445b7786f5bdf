// One run of a group (an ablation, seeds, a search): trained if it is not finished, kept if it is, and its result.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/listener.h"
#include "run/run_record.h"
#include "train/config.h"

namespace lano {

// A finished run is read, an unfinished one resumed, a missing one trained; `title` ("seed 3") says to the reader which
// it is. A run of another config in that folder is an error. No value: stopped before its end, to be resumed. Of
// several ranks all train, and the first has the result.
std::optional<RunRecord> finish_run(const TrainConfig& config, const std::filesystem::path& run,
                                    const std::string& title, Listener& listener, bool test = true);

}  // namespace lano
