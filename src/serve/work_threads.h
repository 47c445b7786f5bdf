// A few threads that read bodies and write answers, so that one long JSON text holds up neither the connections nor the
// computing. Work is done in the order it came; what is left at the end is done before the threads are gone, unless it
// was dropped.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace lano::serve {

class WorkThreads {
 public:
  explicit WorkThreads(int count) {
    for (int i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }
  ~WorkThreads() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    ready_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  WorkThreads(const WorkThreads&) = delete;
  WorkThreads& operator=(const WorkThreads&) = delete;

  // Where `work` throws (no memory, say), what it held is let go, as if it had been dropped.
  void add(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    ready_.notify_one();
  }

  // Lets go of what has not begun.
  void drop() {
    std::deque<std::function<void()>> dropped;
    const std::lock_guard lock(mutex_);
    dropped.swap(work_);
  }

 private:
  void run() {
    for (;;) {
      std::function<void()> work;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [this] { return ending_ || !work_.empty(); });
        if (work_.empty()) return;
        work = std::move(work_.front());
        work_.pop_front();
      }
      try {
        work();
      } catch (const std::exception&) {
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lano::serve
