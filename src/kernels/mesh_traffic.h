// What comes to one rank in a pass over one sample whose points several ranks have among them, counted from the plan of
// the pass without running it: for models of time (src/cluster/time_model.h) and for tests of what was sent.
#pragma once

#include "kernels/network.h"

namespace lano::kernels {

struct MeshTraffic {
  double bytes = 0;                     // to a rank in the middle
  std::int64_t gathers = 0, swaps = 0;  // all get the same; each pair has a piece of its own
  double bytes_without_points = 0;      // of these, what does not grow with the number of points
};

// steps of a training: forward and backward. Parts of a pass: as network.cpp and network_backward.cpp have them.
MeshTraffic prediction_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks);
MeshTraffic training_traffic(const NetworkShape& shape, const Sample& sample, int ranks, std::int64_t blocks);

}  // namespace lano::kernels
