#include "libtorch/tensor_budget.h"

#include <c10/core/CPUAllocator.h>

#include <limits>
#include <string_view>

namespace lano {
namespace {

constexpr std::size_t kUnlimited = std::numeric_limits<std::size_t>::max();
thread_local std::size_t left = kUnlimited;

// LibTorch's own allocator behind a count.
class CountingAllocator final : public c10::Allocator {
 public:
  explicit CountingAllocator(c10::Allocator* inner) : inner_(inner) {}
  c10::DataPtr allocate(std::size_t bytes) const override {
    if (left != kUnlimited) {
      if (bytes > left) throw OverBudget();
      left -= bytes;
    }
    return inner_->allocate(bytes);
  }
  c10::DeleterFnPtr raw_deleter() const override { return inner_->raw_deleter(); }

 private:
  c10::Allocator* inner_;
};

}  // namespace

TensorBudget::TensorBudget(std::size_t bytes) : before_(left) {
  // Once, and for good: tensors remember their allocator.
  static const bool installed = [] {
    c10::SetCPUAllocator(new CountingAllocator(c10::GetCPUAllocator()));
    return true;
  }();
  static_cast<void>(installed);
  left = bytes;
}

TensorBudget::~TensorBudget() { left = before_; }

void throw_if_memory(const c10::Error& error) {
  const std::string_view said = error.what_without_backtrace();
  for (const char* const words : {"allocate memory", "out of memory", "not enough memory", "size calculation overflow",
                                  "numel: integer multiplication overflow", "invalid size"}) {
    if (said.find(words) != std::string_view::npos) throw std::bad_alloc();
  }
}

}  // namespace lano
