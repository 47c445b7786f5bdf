// What ranks exchange, with threads of one process in their place: the order of sums, and failures that all hear of.
#include "core/ranks.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <new>

#include "thread_ranks.h"

namespace {
// Of this thread: larger pieces of memory are not to be had.
thread_local std::size_t largest_piece = std::numeric_limits<std::size_t>::max();
}  // namespace

// Not inlined: the compiler would see free() where it expects the delete of its own new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const room = bytes > largest_piece ? nullptr : std::malloc(std::max<std::size_t>(bytes, 1));
  if (room == nullptr) throw std::bad_alloc();
  return room;
}
[[gnu::noinline]] void operator delete(void* room) noexcept { std::free(room); }
[[gnu::noinline]] void operator delete(void* room, std::size_t) noexcept { std::free(room); }

namespace lano {
namespace {

using test::on_ranks;

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

// A rank without memory for the pieces of a sum is heard by the others, which wait for no piece of it.
TEST(Ranks, NoMemoryForASumIsAFailureThatAllHear) {
  on_ranks(3, [](Ranks& ranks) {
    std::vector<float> rows(20000), sum(10000);
    if (ranks.rank() == 1) largest_piece = 10000;
    try {
      ranks.sum_rows(rows, sum);
      ADD_FAILURE() << "rank " << ranks.rank() << " got a sum";
    } catch (const std::bad_alloc&) {
      largest_piece = std::numeric_limits<std::size_t>::max();
      EXPECT_EQ(ranks.rank(), 1);
      ranks.tell_failure("no memory");
    } catch (const RankFailure& error) {
      EXPECT_STREQ(error.what(), "rank 1: no memory");
    }
  });
}

// More than one exchange can take goes in rounds: the ranks of this test refuse larger ones.
TEST(Ranks, LargePiecesGoInRounds) {
  for (const std::size_t at_once : {0, 7, 64}) {
    const auto swap_and_gather = [](Ranks& ranks) {
      const auto own = static_cast<std::size_t>(ranks.rank());
      const auto count = [](std::size_t from, std::size_t to) { return from == to ? 0 : 10 * from + 3 * to + 1; };
      const auto value = [](std::size_t from, std::size_t to, std::size_t i) {
        return static_cast<float>(1000 * from + 100 * to) + static_cast<float>(i);
      };
      std::vector<float> pieces, wanted;
      std::vector<std::size_t> counts, got_counts;
      std::size_t most = 0;
      for (std::size_t r = 0; r < 3; ++r) {
        counts.push_back(count(own, r));
        got_counts.push_back(count(r, own));
        for (std::size_t i = 0; i < counts.back(); ++i) pieces.push_back(value(own, r, i));
        for (std::size_t i = 0; i < got_counts.back(); ++i) wanted.push_back(value(r, own, i));
        std::size_t given = 0, taken = 0;
        for (std::size_t other = 0; other < 3; ++other) {
          given += count(r, other);
          taken += count(other, r);
        }
        most = std::max({most, given, taken});
      }
      std::vector<float> got(wanted.size(), -1);
      ranks.swap_floats(pieces, counts, got, got_counts, most);
      EXPECT_EQ(got, wanted);
      const std::vector<std::size_t> sizes{5, 0, 61};
      std::vector<float> all(66, -1), in_order;
      for (std::size_t r = 0; r < 3; ++r) {
        for (std::size_t i = 0; i < sizes[r]; ++i) in_order.push_back(value(r, 0, i));
      }
      std::vector<float> mine;
      for (std::size_t i = 0; i < sizes[own]; ++i) mine.push_back(value(own, 0, i));
      ranks.gather_floats(mine, sizes, all);
      EXPECT_EQ(all, in_order);
    };
    on_ranks(3, swap_and_gather, at_once);
  }
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

// Columns to whom they belong, and back: what each rank has of all rows, put together, is all of it.
TEST(Ranks, ColumnsTurnAndComeTogether) {
  const std::vector<std::int64_t> counts{3, 0, 2};
  for (const std::int64_t width : {1, 2, 7, 48}) {
    std::vector<float> wanted;
    for (std::int64_t row = 0; row < 5; ++row) {
      for (std::int64_t c = 0; c < width; ++c) wanted.push_back(static_cast<float>(100 * row + c));
    }
    on_ranks(3, [&](Ranks& ranks) {
      const std::int64_t first = ranks.rank() == 2 ? 3 : ranks.rank() * 3,
                         own = counts[static_cast<std::size_t>(ranks.rank())];
      const std::span<const float> mine = std::span(wanted).subspan(
          static_cast<std::size_t>(first % 5 * width * (own > 0)), static_cast<std::size_t>(own * width));
      std::vector<float> columns;
      ranks.turn_columns(mine, counts, width, columns);
      const Share share = share_of(width, ranks.rank(), 3);
      ASSERT_EQ(std::ssize(columns), 5 * share.count());
      for (std::int64_t row = 0; row < 5; ++row) {
        for (std::int64_t c = 0; c < share.count(); ++c)
          EXPECT_EQ(columns[static_cast<std::size_t>(row * share.count() + c)],
                    static_cast<float>(100 * row + share.first + c));
      }
      std::vector<float> whole(wanted.size(), -1);
      ranks.join_columns(columns, width, whole);
      EXPECT_EQ(whole, wanted);
    });
  }
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
