// One of a limited number of places for requests that wait. It is given back once: when the answer is given, or, where
// none comes (no memory, say), when the last copy of what would have given it is gone. So no place is lost.
#pragma once

#include <atomic>
#include <cstdint>

namespace lano::serve {

class WaitingPlace {
 public:
  WaitingPlace(std::atomic<std::int64_t>& waiting, std::int64_t most)
      : waiting_(waiting), taken_(waiting.fetch_add(1) < most) {
    if (!taken_) --waiting_;
  }
  ~WaitingPlace() { give_back(); }
  WaitingPlace(const WaitingPlace&) = delete;
  WaitingPlace& operator=(const WaitingPlace&) = delete;

  bool taken() const { return taken_; }
  void give_back() {
    if (taken_.exchange(false)) --waiting_;
  }

 private:
  std::atomic<std::int64_t>& waiting_;
  std::atomic<bool> taken_;
};

}  // namespace lano::serve
