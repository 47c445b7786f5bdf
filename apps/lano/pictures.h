// Evaluated samples as picture files: what `--picture` and `--animation` of eval and report write.
#pragma once

#include <string>

#include "evaluate/shown_samples.h"

namespace lano::cli {

// An empty name: none of that kind. Fails if an animation is requested for a dataset with one time or none.
void write_judged_pictures(const ShownSamples& shown, const std::string& picture, const std::string& animation);

}  // namespace lano::cli
