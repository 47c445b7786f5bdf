// Floats on cache-line boundaries, not initialised. Large buffers are kept when they are released: a training step asks
// for the same sizes again, and new pages from the system would cost several percent of it. Kept and used buffers
// together never hold more than was in use at once.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/ranks.h"

namespace lano::kernels {

struct GiveBackBuffer {
  std::int64_t size = 0;  // floats of the memory, which may be more than requested
  void operator()(float* p) const;
};

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }
  // Of large buffers: these floats will be used, the others here and there at most, so that they shall not bring large
  // pages with them.
  void expect_parts(std::span<const Share> parts);

 private:
  std::unique_ptr<float, GiveBackBuffer> data_;
  std::int64_t size_ = 0;
};

// Returns kept buffers to the system.
void release_kept_buffers();
std::int64_t kept_floats();  // in buffers kept and not in use

// Hands out pieces of one buffer, each on a cache line: first run without memory to learn the size, then with it.
class Carver {
 public:
  explicit Carver(float* memory = nullptr) : memory_(memory) {}
  float* take(std::int64_t size) {
    float* const piece = memory_ == nullptr ? nullptr : memory_ + used_;
    used_ += (size + 15) / 16 * 16;
    return piece;
  }
  std::int64_t used() const { return used_; }

 private:
  float* memory_;
  std::int64_t used_ = 0;
};

}  // namespace lano::kernels
