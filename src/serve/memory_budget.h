// The bytes that clients may make the server hold, all together: bodies as they arrive, fields as they are read,
// answers until they are written. What does not fit is refused with a sentence, so that memory has a bound whatever
// clients do.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace lano::serve {

class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t bytes) : most_(bytes) {}

  // A part of the budget, given back with the object.
  class Hold {
   public:
    Hold() = default;
    Hold(Hold&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
    Hold& operator=(Hold&& other) noexcept {
      release();
      budget_ = std::exchange(other.budget_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
      return *this;
    }
    ~Hold() { release(); }

    // Takes so many bytes more; false, and nothing taken, where they are not there.
    bool grow(MemoryBudget& budget, std::size_t bytes) {
      if (!budget.take(bytes)) return false;
      budget_ = &budget;
      bytes_ += bytes;
      return true;
    }
    void release() {
      if (budget_ != nullptr) budget_->held_ -= bytes_;
      budget_ = nullptr;
      bytes_ = 0;
    }

   private:
    MemoryBudget* budget_ = nullptr;
    std::size_t bytes_ = 0;
  };

  std::size_t held() const { return held_; }
  std::size_t most() const { return most_; }

 private:
  bool take(std::size_t bytes) {
    std::size_t now = held_;
    do {
      if (bytes > most_ || now > most_ - bytes) return false;
    } while (!held_.compare_exchange_weak(now, now + bytes));
    return true;
  }

  std::size_t most_;
  std::atomic<std::size_t> held_ = 0;
};

}  // namespace lano::serve
