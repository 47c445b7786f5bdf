// Floats on cache-line boundaries, not initialised. Large buffers are kept when they are given back: a training step asks for
// the same sizes again, and new pages from the system would cost several percent of it. What was not asked for in a while goes.
#pragma once

#include <cstdint>
#include <memory>

namespace lano::kernels {

struct GiveBackBuffer {
  std::int64_t size = 0;
  void operator()(float* p) const;
};

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size);
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

 private:
  std::unique_ptr<float, GiveBackBuffer> data_;
  std::int64_t size_ = 0;
};

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
