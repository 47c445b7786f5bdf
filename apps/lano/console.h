// The user's terminal as a Listener: lines on stdout, warnings and progress on stderr.
#pragma once

#include <vector>

#include "core/listener.h"
#include "evaluate/simple_baselines.h"

namespace lano::cli {

Listener& console();

// What simple baselines reach where the model has this error; in red on a terminal where one of them is better.
void print_baselines(const std::vector<BaselineError>& baselines, double error);

}  // namespace lano::cli
