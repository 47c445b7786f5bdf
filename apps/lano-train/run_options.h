// Options that several words share: threads, the recipe of a training, the number of agents at run time, the engine.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "train/config.h"

namespace lano {
class OperatorModel;
}

namespace lano::cli {

// LibTorch chooses a thread count of its own, and may choose one where OpenMP has more: both follow this.
void use_threads(int count);  // 0: OMP_NUM_THREADS or all cores

// TOML files one over the other, --data over them, each --set over all. Says on stderr where a --set is none of the model's keys.
TrainConfig read_recipe(const std::vector<std::string>& files, const std::string& data, const std::vector<std::string>& overrides);

// 0 keeps the trained number; says so where a patch grid makes another number of what was asked for.
void choose_agents(OperatorModel& model, std::int64_t agents);

void choose_engine(OperatorModel& model, const std::string& engine);  // fused or composite

// Ends the program with 130 where Ctrl-C stopped the work (core/interrupt.h); what was to be said has been said.
void leave_if_interrupted();

}  // namespace lano::cli
