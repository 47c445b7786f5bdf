// Another resolution of the grid a model was trained on: where its points lie in the same domain. What a caller who
// gives fields on a grid of other extents, and no coordinates, means.
#pragma once

#include <vector>

#include "model_spec/lano_config.h"

namespace lano {

struct GridPlace {
  Shape mesh;
  std::vector<double> spacing, origin;  // of each axis
};

// Of a model whose training grid was uniform (shape.spacing): margins to the domain's box stay the same number of
// steps, so cell centres stay cell centres; along a periodic axis it spans the same period.
GridPlace other_grid(const LanoShape& shape, const std::vector<double>& box, const Shape& mesh);

std::vector<float> coordinates_of(const GridPlace& place);  // [N, dx]

}  // namespace lano
