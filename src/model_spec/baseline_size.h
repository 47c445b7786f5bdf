// The memory of an operator of the comparison, known before it is built: the numbers in its weights, and those that one
// sample's pass must keep. Computed from the sizes alone, without LibTorch, so that a recipe can be refused before it
// takes gigabytes; a test compares the counts with the models themselves.
#pragma once

#include "model_spec/baseline_config.h"

namespace lano {

struct BaselineSize {
  double weights = 0;  // numbers in parameters, exact; a complex parameter is two
  double buffers = 0;  // in running statistics that grow with a size of the recipe; a floor
  double pass = 0;     // kept for the way back through one sample; a floor: what grows with a size of the recipe
};

// All zero where the catalogue does not know the model.
BaselineSize baseline_size(const BaselineConfig& config, const LanoShape& shape);

// Points of an image along an axis of n: four halvings, as the U-nets of spectral models make them, leave whole points.
inline std::int64_t padded_points(std::int64_t n) { return (n + 15) / 16 * 16; }

// Fails with a sentence if a size has no effect on the mesh of the data: Fourier modes that no axis has.
void check_baseline_fits(const BaselineConfig& config, const LanoShape& shape);

}  // namespace lano
