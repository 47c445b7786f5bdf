#include "pde/fftw.h"

#include <mutex>
#include <new>

namespace lano {
namespace {

// FFTW's planner is not thread-safe; executing plans is.
std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

}  // namespace

FftwBuffer make_fftw_buffer(std::int64_t size) {
  FftwBuffer buffer(fftw_alloc_real(static_cast<std::size_t>(size)));
  if (!buffer) throw std::bad_alloc();
  return buffer;
}

RealTransform::RealTransform(std::int64_t n, fftw_r2r_kind kind, Axes axes) {
  const FftwBuffer scratch = make_fftw_buffer(n * n);
  const int size = static_cast<int>(n);
  const std::lock_guard lock(planner_mutex());
  plan_ = axes == Axes::both ? fftw_plan_r2r_2d(size, size, scratch.get(), scratch.get(), kind, kind, FFTW_ESTIMATE)
                             : fftw_plan_many_r2r(1, &size, size, scratch.get(), nullptr, 1, size, scratch.get(),
                                                  nullptr, 1, size, &kind, FFTW_ESTIMATE);
}

RealTransform::~RealTransform() {
  const std::lock_guard lock(planner_mutex());
  fftw_destroy_plan(plan_);
}

RealComplexTransform::RealComplexTransform(std::int64_t n) {
  const FftwBuffer real = make_fftw_buffer(n * n), room = make_fftw_buffer(2 * n * (n / 2 + 1));
  auto* const coefficients = reinterpret_cast<fftw_complex*>(room.get());
  const int size = static_cast<int>(n);
  const std::lock_guard lock(planner_mutex());
  forward_ = fftw_plan_dft_r2c_2d(size, size, real.get(), coefficients, FFTW_ESTIMATE);
  backward_ = fftw_plan_dft_c2r_2d(size, size, coefficients, real.get(), FFTW_ESTIMATE);
}

RealComplexTransform::~RealComplexTransform() {
  const std::lock_guard lock(planner_mutex());
  fftw_destroy_plan(forward_);
  fftw_destroy_plan(backward_);
}

}  // namespace lano
