// The options of the loss and of changes to the samples, for the configuration; without LibTorch.
#pragma once

#include <vector>

namespace lano {

enum class LossKind { relative_l2, l2 };

// The gradient term of the loss. joint: central differences at the interior points, all axes in one norm. axes: as the
// public Darcy scripts of this family have it: zeros outside the grid, differences at every point, the prediction's
// outermost points taken for the zeros they should be, and a term for each axis, added.
enum class GradientKind { joint, axes };

struct LossConfig {
  LossKind kind = LossKind::relative_l2;  // relative to the norm of the truth, or the root mean square of the error
  double gradient_weight = 0;             // weight of the gradient term; Darcy: 0.1
  GradientKind gradient_kind = GradientKind::joint;
  std::vector<double> channel_weights;  // of the squares of each output channel; empty: 1
  std::vector<double> frame_weights;    // time-dependent datasets: of each frame (rolled-out step); empty: 1
};

enum class Augment { none, flips, rotations };  // of uniform two-dimensional grids; rotations: flips and quarter turns

}  // namespace lano
