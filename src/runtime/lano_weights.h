// The tensors of a model file as the kernels need them, each checked against the shape its architecture requires.
#pragma once

#include <string>

#include "model_spec/lano_config.h"
#include "runtime/lano_tensors.h"
#include "runtime/model_file.h"

namespace lano {

struct LanoParts {
  LanoConfig config;
  LanoShape shape;
  LanoWeights weights;  // pointers into the file
};

// The architecture of a LANO and its weights. Fails where they do not belong together: other channels than the
// dataset's, a tensor that is missing, has another shape or is unknown; nothing of the architecture's size is allocated
// to find that out. `doing` opens the message.
LanoParts lano_parts(const ModelFile& file, const std::string& doing);

}  // namespace lano
