// Memory that LibTorch allocates. A limit on what it allocates for tensors in this thread, for as long as it lives: for
// models whose sizes come from an untrusted file. What a size costs is known to each model's constructor alone, so it
// is the allocations that are counted, not the sizes.
#pragma once

#include <c10/util/Exception.h>

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

// Calls f; memory that LibTorch cannot have, or sizes beyond any memory, throw std::bad_alloc instead of its own
// errors.
void throw_if_memory(const c10::Error& error);
template <class F>
auto with_memory(F&& f) {
  try {
    return f();
  } catch (const c10::Error& error) {
    throw_if_memory(error);
    throw;
  }
}

}  // namespace lano
