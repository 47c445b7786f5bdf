// The one thread pool (OpenMP) and what else might bring a second one: the BLAS libraries loaded into this process.
// OpenBLAS built on pthreads beside OpenMP is many times slower, so programs check `foreign_pools()` at start.
#pragma once

#include <string>
#include <vector>

namespace lano {

int thread_count();
void set_thread_count(int count);  // 0 keeps the default: OMP_NUM_THREADS or all cores

struct BlasLibrary {
  std::string path;
  std::string kind;  // "OpenMP", "pthread", "sequential" or "unknown"
};

// Every OpenBLAS mapped into this process. openblas_get_parallel() says 0 sequential, 1 pthread, 2 OpenMP.
std::vector<BlasLibrary> loaded_openblas();

// The OpenBLAS libraries among them that have a thread pool of their own; empty is good.
std::vector<BlasLibrary> foreign_pools();

}  // namespace lano
