// The built-in solver of the problem a model was trained on, for the truth beside a prediction. It knows the problem by
// what `lano generate` wrote into the dataset, and solves it with the same parameters.
#pragma once

#include <vector>

#include "serve/fields_body.h"
#include "serve/served_model.h"

namespace lano::serve {

struct Solved {
  Shape shape;  // [frames, mesh..., channels], those axes that there are
  std::vector<float> values;
  std::vector<double> times;
  Shape coordinates_shape;  // of problems whose points follow from what is asked
  std::vector<float> coordinates;
  double seconds = 0;
};

// The key of the body that the solver of this model's problem reads ("input", "state", "radius", "value"); empty where
// there is none.
std::string solver_takes(const nlohmann::json& about);

// Fails with 422 where the body does not fit, with an Error where the solver does not converge.
//   darcy          input: the coefficient on the training grid; each value holds for the cells nearest to its point
//   burgers        input: both velocities at t = 0 on the training grid
//   navier-stokes  state: the given vorticities on the training grid; solved from the last
//   elasticity     radius: of the cavity at equally spaced angles, an odd number; between them a trigonometric sum
//   pipe           value, slope: of the centre line at its five knots
Solved solve_exactly(FieldsBody body, const ServedModel& model);

}  // namespace lano::serve
