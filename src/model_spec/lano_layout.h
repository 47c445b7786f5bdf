// Where the points of a batch lie against the mesh, or the order of a cloud, that a LANO was trained on. Every engine
// computes patches, biases and stencil from this.
#pragma once

#include <cstdint>
#include <vector>

#include "core/shape.h"
#include "model_spec/lano_config.h"

namespace lano {

// One axis of a mesh (or the order of a cloud) against the axis the model was trained on. Places count trained points:
// point i of this axis lies at place(i), between -1 and `trained`, where the zero padding of the training begins. On a
// periodic axis places are counted modulo `trained`, and the axis spans one period.
struct AxisLayout {
  std::int64_t trained = 1;  // points of the trained axis
  double reach = 1;          // distance of the stencil's outer taps, in points of this axis
  bool moved = false;        // another axis than the trained one; else point i lies at place i
  double first = 0;          // place of point 0
  bool periodic = false;     // point n is point 0 again
  bool held = false;         // beyond the ends the stencil reads the end's value, not zeros
  double place(double i) const {
    return moved ? first + i / reach : i;
  }  // any i, between points and beyond the ends too
  // The part of the trained axis that point i of n stands for in sums over points, in steps of this axis: 1, but at
  // held ends of another axis than the trained one, whose end points stood for a whole trained step.
  double cell(std::int64_t i, std::int64_t n) const;
};

// i modulo n, from 0 to n - 1 also for i < 0.
inline std::int64_t wrapped(std::int64_t i, std::int64_t n) { return (i % n + n) % n; }

// The arrangement of a batch's points as the blocks see it.
struct Layout {
  Shape mesh;                        // axes, or empty for clouds
  std::vector<AxisLayout> axes;      // of the mesh, or of the order of all clouds
  std::vector<std::int64_t> counts;  // packed clouds
  std::vector<AxisLayout> clouds;    // the order of each packed cloud
};

// points: of one sample; counts: of packed clouds, else empty; spacing, origin: physical, of uniform grids, else empty.
// stretch: of meshes without spacing, by how much further along the whole mesh they reach than the trained one does
// (core/set_description.h); empty: as far. Fails where the mesh has another number of axes than the model, or does not
// span the period of a periodic one.
Layout lano_layout(const LanoConfig& config, const LanoShape& shape, std::int64_t points, const Shape& mesh,
                   const std::vector<double>& spacing, const std::vector<double>& origin,
                   const std::vector<std::int64_t>& counts, const std::vector<double>& stretch = {});

// Whether agents are pooled over the patches of this mesh, and not along the order.
bool pools_on_grid(const LanoConfig& config, const std::vector<std::int64_t>& patches, const Shape& mesh);

}  // namespace lano
