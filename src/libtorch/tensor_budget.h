// A limit on what LibTorch allocates for tensors in this thread, for as long as it lives: for models whose sizes a
// stranger wrote down. What a size costs is known to each model's constructor alone, so it is the allocations that are
// counted, not the sizes.
#pragma once

#include <cstddef>
#include <new>

namespace lano {

struct OverBudget : std::bad_alloc {
  const char* what() const noexcept override { return "more tensors than allowed"; }
};

class TensorBudget {
 public:
  explicit TensorBudget(
      std::size_t bytes);  // of all tensors together, freed ones too; a tensor beyond them throws OverBudget
  ~TensorBudget();
  TensorBudget(const TensorBudget&) = delete;
  TensorBudget& operator=(const TensorBudget&) = delete;

 private:
  std::size_t before_;
};

}  // namespace lano
