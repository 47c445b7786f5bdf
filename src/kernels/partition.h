// How a batch is divided among threads. The division of a sample depends on its own size only, never on the number of
// threads or on the other samples, and every sum over points is taken unit by unit in order: that is why results depend
// neither on the thread count nor on how the samples of a step are divided over ranks.
#pragma once

#include <omp.h>
#if defined(__SSE__)
#include <xmmintrin.h>
#endif

#include <cstdint>
#include <vector>

#include "core/threads.h"

namespace lano::kernels {

constexpr std::int64_t kTile =
    96;  // points that go through a chain of kernels together: a multiple of all micro-kernel rows

constexpr std::int64_t kTrainingUnit = 240;    // points of a unit that are worth a thread of their own: a step of
constexpr std::int64_t kPredictionUnit = 640;  // training takes three times as long as a prediction

// Consecutive points of one sample: the smallest piece of work of a thread.
struct Unit {
  std::int64_t sample = 0, first = 0, count = 0;  // first: within the sample
  std::int64_t tile = 0;                          // points of its tiles; the last may be smaller
};

// Consecutive units of one sample that share one set of weight-gradient sums.
struct Group {
  std::int64_t first = 0, last = 0;  // units first .. last-1
};

struct Partition {
  std::vector<Unit> units;
  std::vector<Group> groups;
  std::vector<std::int64_t> first_unit, first_group;  // of each sample; one more at the end
};

// smallest: points of a unit worth its own thread. Each unit of a forward pass costs a copy of what the agents gather.
// groups: of a sample, at most.
Partition divide(const std::vector<std::int64_t>& points, std::int64_t smallest, std::int64_t groups = 64);

// While it lives, denormal numbers count as zero on this thread: shares of a softmax underflow by design, and a product
// with a denormal number takes a hundred times as long as another.
class FlushDenormals {
 public:
#if defined(__SSE__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | 1u << 24) : "memory");  // FZ
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" : : "r"(before_) : "memory"); }

 private:
  std::uint64_t before_;
#else
  FlushDenormals() {}  // not a plain default: the object is there for its life
#endif
};

// f(i, thread) for i < count on OpenMP's threads, in any order. Nothing may be thrown.
template <class F>
void parallel_for(std::int64_t count, int threads, F&& f) {
#pragma omp parallel num_threads(threads) if (count > 1)
  {
    const FlushDenormals flush;
    const int thread = omp_get_thread_num();
#pragma omp for schedule(LANO_SCHEDULE, 1)
    for (std::int64_t i = 0; i < count; ++i) f(i, thread);
  }
}

template <class F>
void parallel_for(std::int64_t count, F&& f) {
  parallel_for(count, thread_count(), f);
}

}  // namespace lano::kernels
