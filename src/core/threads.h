// The one thread pool (OpenMP) and what else might bring a second one: the BLAS libraries loaded into this process.
// OpenBLAS built on pthreads in addition to OpenMP is many times slower, so programs check `foreign_pools()` at start.
#pragma once

#include <string>
#include <vector>

// How OpenMP hands out pieces of work, one at a time: to any free thread. Under the thread sanitizer in turn, so that
// every thread has some and a race between two pieces is seen however quick they are.
#define LANO_SCHEDULE dynamic
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#undef LANO_SCHEDULE
#define LANO_SCHEDULE static
#endif
#endif

namespace lano {

inline constexpr int kMostThreads = 1024;  // beyond it a pool costs more than it does, and the machine's memory

int thread_count();
// Of every calling thread; 0 is the default: OMP_NUM_THREADS or all cores. More than kMostThreads are kMostThreads.
void set_thread_count(int count);
// Fails if more than kMostThreads are requested, by the argument or by OMP_NUM_THREADS.
void check_thread_count(int count);

struct BlasLibrary {
  std::string path;
  std::string kind;  // "OpenMP", "pthread", "sequential" or "unknown"
  std::string core;  // the processor family its kernels are for, as it says itself: "SkylakeX", "Haswell", "Prescott"
};

// Every OpenBLAS mapped into this process. openblas_get_parallel() says 0 sequential, 1 pthread, 2 OpenMP.
std::vector<BlasLibrary> loaded_openblas();

// The OpenBLAS libraries among them that have their own thread pool; empty is good.
std::vector<BlasLibrary> foreign_pools();

// OpenBLAS 0.3.21 takes processors newer than itself for a Prescott of 2004 and runs five times slower. Where the
// loaded library names a family without AVX2 on a machine that has it, this is the OPENBLAS_CORETYPE that corrects it,
// else empty. The variable is read when the library is loaded: set it and start the program again.
std::string better_openblas_core(const BlasLibrary& library);

}  // namespace lano
