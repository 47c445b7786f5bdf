// The switches of a LANO that an ablation changes one by one: the paper's table on Elasticity and ours. Trained and
// shown by experiment/studies.h.
#pragma once

#include <string>
#include <vector>

#include "core/shape.h"
#include "model_spec/lano_config.h"

namespace lano {

struct AblationRow {
  std::string name;                  // "reference", "without bias", ...
  std::vector<std::string> changes;  // "model.bias=none", ...
};

// The paper's rows (reference, without bias, without DWC, without both, latent agents) and ours (sum instead of outer
// bias, sequence instead of grid pooling, file instead of Hilbert order), those that make a difference on this
// geometry.
std::vector<AblationRow> ablation_rows(Geometry geometry, const LanoConfig& reference);

}  // namespace lano
