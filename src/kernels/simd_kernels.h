// The Highway tables, one for each instruction set.
#pragma once

#include "kernels/tile_kernels.h"

namespace lano::kernels {

// The table of an instruction set; false where this build or this processor has not got it.
bool simd_kernels(Simd simd, Kernels& out);

}  // namespace lano::kernels
