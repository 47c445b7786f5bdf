// Floats on cache-line boundaries, not initialised.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace lano::kernels {

class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t size) : size_(size) {
    if (size <= 0) return;
    const std::size_t bytes = (static_cast<std::size_t>(size) * sizeof(float) + 63) / 64 * 64;
    data_.reset(static_cast<float*>(std::aligned_alloc(64, bytes)));
    if (data_ == nullptr) throw std::bad_alloc();
  }
  float* data() { return data_.get(); }
  const float* data() const { return data_.get(); }
  std::int64_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const { std::free(p); }
  };
  std::unique_ptr<float, Free> data_;
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
