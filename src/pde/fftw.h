// Real transforms of FFTW on square arrays, planned once with ESTIMATE (so results do not depend on timings) and run
// from several threads at once. Private to src/pde. Transforms are unnormalised, as FFTW defines them.
#pragma once

#include <fftw3.h>

#include <cstdint>
#include <memory>
#include <span>

namespace lano {

// Memory with FFTW's alignment: plans made for one such buffer run on any other.
struct FftwFree {
  void operator()(double* p) const { fftw_free(p); }
};
using FftwBuffer = std::unique_ptr<double[], FftwFree>;
FftwBuffer make_fftw_buffer(std::int64_t size);

// An in-place transform of an n x n array: of one kind in both axes, or of the rows alone (the last axis).
class RealTransform {
 public:
  enum class Axes { both, rows };
  RealTransform(std::int64_t n, fftw_r2r_kind kind, Axes axes);
  ~RealTransform();
  RealTransform(const RealTransform&) = delete;
  RealTransform& operator=(const RealTransform&) = delete;
  void run(double* buffer) const { fftw_execute_r2r(plan_, buffer, buffer); }

 private:
  fftw_plan plan_;
};

// Out of place between n x n real values and n x (n/2+1) coefficients; `backward` destroys its input.
class RealComplexTransform {
 public:
  explicit RealComplexTransform(std::int64_t n);
  ~RealComplexTransform();
  RealComplexTransform(const RealComplexTransform&) = delete;
  RealComplexTransform& operator=(const RealComplexTransform&) = delete;
  void forward(double* values, fftw_complex* coefficients) const {
    fftw_execute_dft_r2c(forward_, values, coefficients);
  }
  void backward(fftw_complex* coefficients, double* values) const {
    fftw_execute_dft_c2r(backward_, coefficients, values);
  }

 private:
  fftw_plan forward_, backward_;
};

}  // namespace lano
