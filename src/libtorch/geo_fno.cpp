// Geo-FNO (Li et al., 2022, JMLR 2023): an FNO on a latent grid into which a learned deformation takes the points of
// the plane, whatever their arrangement; the axes of a structured mesh are not used. Equations in geo_projection.cpp
// and fno.cpp. Cost O(N C m^2) in addition to an FNO on the grid.
#include "libtorch/baselines.h"
#include "libtorch/fno.h"

namespace lano {

std::shared_ptr<OperatorModel> make_geo_fno(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Fno>(config, shape, Project::everything);
}

}  // namespace lano
