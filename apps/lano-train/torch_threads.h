// LibTorch chooses a thread count of its own, and may choose one where OpenMP has more: both follow this.
#pragma once

namespace lano::cli {

void use_threads(int count);  // 0: OMP_NUM_THREADS or all cores

}  // namespace lano::cli
