#include "kernels/buffer.h"

#include <sys/mman.h>

#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace lano::kernels {
namespace {

constexpr std::int64_t kLarge = 1 << 20;     // floats: 4 MB
constexpr std::uint64_t kPatience = 2048;    // requests a kept buffer waits for

constexpr std::size_t kHugePage = std::size_t{1} << 21;

class Kept {
 public:
  float* take(std::int64_t size) {
    const std::lock_guard lock(mutex_);
    ++clock_;
    float* found = nullptr;
    for (std::size_t i = 0; i < idle_.size();) {
      const Idle idle = idle_[i];
      const bool wanted = found == nullptr && idle.size == size;
      if (wanted) found = idle.memory;
      if (!wanted && clock_ - idle.since < kPatience) {
        ++i;
        continue;
      }
      if (!wanted) std::free(idle.memory);
      idle_[i] = idle_.back();
      idle_.pop_back();
    }
    return found;
  }
  void give_back(float* memory, std::int64_t size) {
    const std::lock_guard lock(mutex_);
    idle_.push_back({memory, size, clock_});
  }

 private:
  struct Idle {
    float* memory;
    std::int64_t size;
    std::uint64_t since;
  };
  std::mutex mutex_;
  std::vector<Idle> idle_;
  std::uint64_t clock_ = 0;
};

Kept& kept() {
  static Kept* const all = new Kept;  // never destroyed: buffers may be given back after main
  return *all;
}

}  // namespace

Buffer::Buffer(std::int64_t size) : size_(size) {
  if (size <= 0) return;
  float* memory = size >= kLarge ? kept().take(size) : nullptr;
  if (memory == nullptr) {
    const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(float);
    void* found = nullptr;
    if (::posix_memalign(&found, size >= kLarge ? kHugePage : 64, bytes) != 0) throw std::bad_alloc();
    memory = static_cast<float*>(found);
    if (size >= kLarge) ::madvise(memory, bytes, MADV_HUGEPAGE);  // advice only: no matter if it is not taken
  }
  data_ = std::unique_ptr<float, GiveBackBuffer>(memory, GiveBackBuffer{size});
}

void GiveBackBuffer::operator()(float* p) const {
  if (size >= kLarge) {
    kept().give_back(p, size);
  } else {
    std::free(p);
  }
}

}  // namespace lano::kernels
