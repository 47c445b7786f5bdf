// What one rank receives in a pass over one sample whose points are divided over several ranks, from the plan of
// the pass without running it: for models of time (src/cluster/time_model.h) and for tests of what was sent.
#pragma once

#include "kernels/network.h"

namespace lano::kernels {

struct MeshTraffic {
  double bytes = 0;                     // to a rank in the middle
  std::int64_t gathers = 0, swaps = 0;  // all get the same; each pair has a piece of its own
};

// A prediction, and the forward and backward pass of a training, with this many blocks.
MeshTraffic prediction_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks);
MeshTraffic training_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks);

}  // namespace lano::kernels
