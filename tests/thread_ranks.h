// Threads of one process in place of ranks: what they exchange goes over a board that all see.
#pragma once

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "core/ranks.h"

namespace lano::test {

struct Board {
  explicit Board(int size) : meeting(size), given(static_cast<std::size_t>(size)) {}
  std::barrier<> meeting;
  std::vector<std::string> given;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Board& board, int rank, std::size_t at_once) : board_(board), rank_(rank), at_once_(at_once) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(board_.given.size()); }
  std::unique_ptr<Ranks> split(int) override { return nullptr; }  // not asked for here
  std::size_t floats_at_once() const override { return at_once_ > 0 ? at_once_ : Ranks::floats_at_once(); }
  Came all_come_within(double) noexcept override { return Came::some; }
  void end_all() noexcept override {}

 protected:
  void exchange(const void* mine, std::size_t bytes, void* all) override {
    exchange(mine, std::vector<std::size_t>(board_.given.size(), bytes), all);
  }
  void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    check_size(bytes);
    put(mine, bytes[static_cast<std::size_t>(rank_)]);
    auto* to = static_cast<char*>(all);
    for (const std::string& text : board_.given) to = std::copy(text.begin(), text.end(), to);
    board_.meeting.arrive_and_wait();
  }
  void exchange_in_place(std::span<const std::size_t> bytes, void* all) override {
    std::size_t at = 0;
    for (int r = 0; r < rank_; ++r) at += bytes[static_cast<std::size_t>(r)];
    const std::string mine(static_cast<const char*>(all) + at, bytes[static_cast<std::size_t>(rank_)]);
    exchange(mine.data(), bytes, all);
  }
  void hand_round(const void* pieces, std::span<const std::size_t> bytes, void* got,
                  std::span<const std::size_t> got_bytes) override {
    check_size(bytes);
    check_size(got_bytes);
    std::size_t size = 0;
    for (const std::size_t piece : bytes) size += piece;
    std::string sizes(bytes.size() * sizeof(std::size_t), '\0');
    std::memcpy(sizes.data(), bytes.data(), sizes.size());
    put((sizes + std::string(static_cast<const char*>(pieces), size)).data(), sizes.size() + size);
    auto* to = static_cast<char*>(got);
    for (std::size_t from = 0; from < board_.given.size(); ++from) {
      const std::string& text = board_.given[from];
      std::vector<std::size_t> its(board_.given.size());
      std::memcpy(its.data(), text.data(), sizes.size());
      std::size_t at = sizes.size();
      for (int r = 0; r < rank_; ++r) at += its[static_cast<std::size_t>(r)];
      EXPECT_EQ(its[static_cast<std::size_t>(rank_)], got_bytes[from]);
      to = std::copy_n(text.data() + at, got_bytes[from], to);
    }
    board_.meeting.arrive_and_wait();
  }

 private:
  // Rounds may leave a float more for each rank.
  void check_size(std::span<const std::size_t> bytes) const {
    std::size_t all = 0;
    for (const std::size_t piece : bytes) all += piece;
    if (at_once_ > 0) {
      EXPECT_LE(all, (at_once_ + bytes.size()) * sizeof(float));
    }
  }
  void put(const void* mine, std::size_t bytes) {
    board_.given[static_cast<std::size_t>(rank_)].assign(static_cast<const char*>(mine), bytes);
    board_.meeting.arrive_and_wait();
  }
  Board& board_;
  int rank_;
  std::size_t at_once_;
};

// at_once: floats of one exchange at most, where it is not 0; ranks that want more fail.
inline void on_ranks(int size, const std::function<void(Ranks&)>& work, std::size_t at_once = 0) {
  Board board(size);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      ThreadRanks ranks(board, r, at_once);
      work(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace lano::test
