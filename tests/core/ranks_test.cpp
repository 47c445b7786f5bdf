// What ranks exchange, with threads of one process in their place: the order of sums, and failures that all hear of.
#include "core/ranks.h"

#include <gtest/gtest.h>

#include <barrier>
#include <cstring>
#include <functional>
#include <thread>

namespace lano {
namespace {

struct Board {
  explicit Board(int size) : meeting(size), given(static_cast<std::size_t>(size)) {}
  std::barrier<> meeting;
  std::vector<std::string> given;
};

class ThreadRanks : public Ranks {
 public:
  ThreadRanks(Board& board, int rank) : board_(board), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(board_.given.size()); }
  std::unique_ptr<Ranks> split(int) override { return nullptr; }  // not asked for here
  bool all_come_within(double) noexcept override { return false; }
  void end_all() noexcept override {}

 protected:
  void exchange(const void* mine, std::size_t bytes, void* all) override {
    exchange(mine, std::vector<std::size_t>(board_.given.size(), bytes), all);
  }
  void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) override {
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
  void put(const void* mine, std::size_t bytes) {
    board_.given[static_cast<std::size_t>(rank_)].assign(static_cast<const char*>(mine), bytes);
    board_.meeting.arrive_and_wait();
  }
  Board& board_;
  int rank_;
};

void on_ranks(int size, const std::function<void(Ranks&)>& work) {
  Board board(size);
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      ThreadRanks ranks(board, r);
      work(ranks);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// Numbers whose sum depends on the order: 1e8 swallows what is added to it.
float number(std::int64_t row, std::int64_t column) {
  return row % 3 == 1 ? ((row + column) % 2 == 0 ? 1e8f : -1e8f) : 0.37f * static_cast<float>(row * 7 + column);
}

TEST(Ranks, SumOfRowsHasTheBitsOfOneRank) {
  constexpr std::int64_t kRows = 11, kWidth = 23;
  std::vector<float> wanted(kWidth);
  for (std::int64_t c = 0; c < kWidth; ++c) {
    wanted[static_cast<std::size_t>(c)] = number(0, c);
    for (std::int64_t r = 1; r < kRows; ++r) wanted[static_cast<std::size_t>(c)] += number(r, c);
  }
  float backwards = 0;
  for (std::int64_t r = kRows; r-- > 0;) backwards += number(r, 1);
  EXPECT_NE(backwards, wanted[1]);              // the order matters
  for (const int size : {1, 2, 3, 4, 7, 13}) {  // thirteen: two ranks without a row
    on_ranks(size, [&](Ranks& ranks) {
      const Share own = share_of(kRows, ranks.rank(), size);
      std::vector<float> rows, sum(kWidth, 5.0f);
      for (std::int64_t r = own.first; r < own.last; ++r) {
        for (std::int64_t c = 0; c < kWidth; ++c) rows.push_back(number(r, c));
      }
      ranks.sum_rows(rows, sum);
      EXPECT_EQ(sum, wanted) << size << " ranks";
    });
  }
}

TEST(Ranks, GatherInTheirOrder) {
  on_ranks(3, [](Ranks& ranks) {
    const std::vector<double> mine(static_cast<std::size_t>(ranks.rank()), ranks.rank() + 0.5);
    EXPECT_EQ(ranks.gather(std::span<const double>(mine)), (std::vector<double>{1.5, 2.5, 2.5}));
    EXPECT_EQ(ranks.from_first(ranks.first() ? "the first" : "another"), "the first");
  });
}

TEST(Ranks, AFailureIsHeardByAllInTheirNextExchange) {
  on_ranks(4, [](Ranks& ranks) {
    if (ranks.rank() == 2) {
      const std::vector<std::string> all = ranks.tell_failure("no space");
      EXPECT_EQ(all, (std::vector<std::string>{"", "", "no space", ""}));
      return;
    }
    try {
      std::vector<float> sum(5);
      if (ranks.rank() == 0) ranks.sum_rows(sum, sum);
      if (ranks.rank() == 1) ranks.meet();
      if (ranks.rank() == 3) ranks.gather(std::string_view("x"));
      FAIL() << "rank " << ranks.rank() << " heard nothing";
    } catch (const RankFailure& error) {
      EXPECT_STREQ(error.what(), "rank 2: no space");
    }
  });
}

TEST(Ranks, OneProcessIsAJobOfOneRank) {
  EXPECT_TRUE(ranks().alone());
  EXPECT_TRUE(ranks().first());
  std::vector<float> sum(2);
  ranks().sum_rows(std::vector<float>{1, 2, 10, 20}, sum);
  EXPECT_EQ(sum, (std::vector<float>{11, 22}));
  EXPECT_EQ(ranks().from_first("me"), "me");
  EXPECT_TRUE(ranks().tell_failure("unheard").empty());
}

TEST(Ranks, SharesCoverEverythingOnce) {
  for (std::int64_t count = 0; count < 20; ++count) {
    for (std::int64_t parts = 1; parts < 9; ++parts) {
      std::int64_t at = 0;
      for (std::int64_t part = 0; part < parts; ++part) {
        const Share share = share_of(count, part, parts);
        EXPECT_EQ(share.first, at);
        EXPECT_LE(share.count(), (count + parts - 1) / parts);
        at = share.last;
      }
      EXPECT_EQ(at, count);
    }
  }
}

}  // namespace
}  // namespace lano
