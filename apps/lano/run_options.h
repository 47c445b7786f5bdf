// Options that several commands share: threads, the recipe of a training, the number of agents at run time, the device.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "evaluate/predictor.h"
#include "train/config.h"

namespace lano::cli {

// TOML files, later ones overriding earlier ones, --data over them, each --set over all.
TrainConfig read_recipe(const std::vector<std::string>& files, const std::string& data,
                        const std::vector<std::string>& overrides);

// A note for each --set that is not a key of the model: not an error, since one list of changes may serve many models,
// but worth knowing. Called in the program that does the work.
std::vector<std::string> unread_keys(const TrainConfig& config, const std::vector<std::string>& overrides);

// Says those sentences on stdout: stderr is for what went wrong.
void tell_unread(const TrainConfig& config, const std::vector<std::string>& overrides);

// 0 keeps the trained number; says so where a patch grid makes another number of what was asked for.
void choose_agents(Predictor& predictor, std::int64_t agents);

// Of several ranks: fails where one has another program than the first, or says something else of its work, "command"
// or "model" in the message.
void check_same_on_all(const std::string& doing, const std::string& what, const std::string& advice,
                       const std::string& mine);

// Ends the program with 130 where Ctrl-C stopped the work (core/interrupt.h); what was to be said has been said.
void leave_if_interrupted();

}  // namespace lano::cli
