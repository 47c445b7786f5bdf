// The processes of one job that share a piece of work ("ranks", as MPI calls them): which of them this is, and what
// they exchange. One process by itself is a job of one rank, and nothing here costs anything then. Sums are taken in
// the order of ranks and rows, so that their bits do not depend on how many ranks there are.
//
// In every exchange each rank first says whether it can go on. One that failed calls tell_failure(), and all others get
// a RankFailure in their next exchange: no rank waits for one that will not come.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"

namespace lano {

// Another rank has failed; `what` names it, and says its sentence.
class RankFailure : public Error {
 public:
  using Error::Error;
};

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  bool alone() const { return size() == 1; }
  bool first() const { return rank() == 0; }

  // What every rank gave, in the order of ranks, on all of them.
  std::vector<std::string> gather(std::string_view mine);
  std::vector<double> gather(std::span<const double> mine);
  // What the first rank gave.
  std::string from_first(std::string_view mine);
  // rows [own, width]: on all ranks sum [width] becomes the sum of all rows, in the order of ranks and rows.
  void sum_rows(std::span<const float> rows, std::span<float> sum);
  // All are here.
  void meet() { check_in(0); }

  // For the passes over one mesh, many times a step; without the check whether all ranks can go on.
  // Floats of every rank, counts[r] of rank r, concatenated in the order of ranks.
  void gather_floats(std::span<const float> mine, std::span<const std::size_t> counts, std::span<float> all);
  // counts[r] floats for rank r, one piece behind the other; got_counts[r] from it. None for oneself. most: what any
  // rank gives or gets in all, at least; all say the same, for it decides in how many rounds they do this.
  void swap_floats(std::span<const float> pieces, std::span<const std::size_t> counts, std::span<float> got,
                   std::span<const std::size_t> got_counts, std::size_t most);
  // mine [own, width], counts[r] rows of rank r: `all` becomes this rank's columns, share_of(width, rank, size), of all
  // rows in the order of ranks. And back: [rows, columns] of every rank to [rows, width] on all.
  void turn_columns(std::span<const float> mine, std::span<const std::int64_t> counts, std::int64_t width,
                    std::vector<float>& all);
  void join_columns(std::span<const float> mine, std::int64_t width, std::span<float> whole);

  // Floats of one exchange at most; more go in rounds: the counts of MPI are ints, of bytes.
  virtual std::size_t floats_at_once() const { return std::size_t{1} << 28; }

  // What has come from other ranks, in how many exchanges: gathers, where all get the same, and swaps, where each pair
  // has a piece of its own.
  struct Traffic {
    std::int64_t bytes = 0, gathers = 0, swaps = 0;
  };
  const Traffic& traffic() const { return traffic_; }

  // Those with the same colour, in the order of ranks.
  virtual std::unique_ptr<Ranks> split(int colour) = 0;
  // Whether all ranks came within this many seconds; called once, by a rank that cannot go on. If some came and some
  // did not, the first of those that came knows that it is the first.
  enum class Came { all, some_and_first, some };
  virtual Came all_come_within(double seconds) noexcept = 0;
  // Ends all ranks at once, this one too.
  virtual void end_all() noexcept = 0;

  // Tells the others, in their next exchange, that this one cannot go on. What all ranks that failed by then had to
  // say; empty where this is not heard by anybody.
  std::vector<std::string> tell_failure(const std::string& sentence) noexcept;

 protected:
  virtual void exchange(const void* mine, std::size_t bytes, void* all) = 0;  // as many bytes from each
  virtual void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) = 0;
  virtual void exchange_in_place(std::span<const std::size_t> bytes, void* all) = 0;  // mine is in its place already
  // One piece for each other rank, one behind the other; and one from each.
  virtual void hand_round(const void* pieces, std::span<const std::size_t> bytes, void* got,
                          std::span<const std::size_t> got_bytes) = 0;
  void count_gather(std::size_t bytes) {
    traffic_.bytes += static_cast<std::int64_t>(bytes);
    ++traffic_.gathers;
  }
  void count_swap(std::size_t bytes) {
    traffic_.bytes += static_cast<std::int64_t>(bytes);
    ++traffic_.swaps;
  }

 private:
  std::vector<std::int64_t> check_in(std::int64_t value);  // the values of all ranks; throws RankFailure
  std::vector<std::string> gather_texts(std::string_view mine, std::span<const std::size_t> bytes);

  std::size_t rounds_of(std::size_t floats) const {
    return std::max<std::size_t>(1, (floats + floats_at_once() - 1) / floats_at_once());
  }

  Traffic traffic_;
  std::vector<float> pieces_, got_;  // of sums, kept: new memory at every step would cost page faults
  std::int64_t room_ = 0;            // floats that every rank is known to have in both
};

// Those of this process: one, until a program that was started as one of several says otherwise.
Ranks& ranks();
void set_ranks(std::unique_ptr<Ranks> several);  // null: this process by itself again

Ranks& one_rank();  // this process by itself

// Ranks that share the points of a sample: groups of `size` neighbouring ranks of the job, each with samples of its
// own. With size 1 every rank has whole samples.
Ranks& mesh_ranks();
void set_mesh_ranks(int size);  // refuses a size that does not divide the ranks
int mesh_group();               // which of the groups this rank is in
int mesh_groups();

// While it lives, this rank works by itself; the others may wait for it in an exchange.
class AloneForNow {
 public:
  AloneForNow();
  ~AloneForNow();
  AloneForNow(const AloneForNow&) = delete;
  AloneForNow& operator=(const AloneForNow&) = delete;

 private:
  std::unique_ptr<Ranks> several_, mesh_;
};

// Piece `part` of `parts` of `count` things: first .. last - 1.
struct Share {
  std::int64_t first = 0, last = 0;
  std::int64_t count() const { return last - first; }
};
constexpr Share share_of(std::int64_t count, std::int64_t part, std::int64_t parts) {
  return {count * part / parts, count * (part + 1) / parts};
}

}  // namespace lano
