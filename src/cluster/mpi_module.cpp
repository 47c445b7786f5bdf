// MPI behind core/ranks.h, in a module of its own that `lano` loads only where it was started by mpirun: a machine
// without MPI neither needs nor notices it. One communicator of our own, calls from one thread.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "core/ranks.h"

namespace {

class MpiRanks : public lano::Ranks {
 public:
  MpiRanks() {
    int given = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &given);
    MPI_Comm_dup(MPI_COMM_WORLD, &world_);
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
    MPI_Comm_dup(MPI_COMM_WORLD, &last_);
  }
  explicit MpiRanks(MPI_Comm part) : world_(part) {
    MPI_Comm_rank(world_, &rank_);
    MPI_Comm_size(world_, &size_);
  }
  ~MpiRanks() override {
    MPI_Comm_free(&world_);
    if (last_ == MPI_COMM_NULL) return;
    MPI_Comm_free(&last_);
    MPI_Finalize();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::unique_ptr<lano::Ranks> split(int colour) override {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(world_, colour, rank_, &part);
    return std::make_unique<MpiRanks>(part);
  }

  // A rank that came tells those behind it, without waiting for them: they know then that they are not the first.
  Came all_come_within(double seconds) noexcept override {
    MPI_Request request = MPI_REQUEST_NULL;
    for (int behind = rank_ + 1; behind < size_; ++behind) {
      MPI_Isend(nullptr, 0, MPI_BYTE, behind, 0, last_, &request);
      MPI_Request_free(&request);
    }
    MPI_Ibarrier(last_, &request);
    const double end = MPI_Wtime() + seconds;
    int here = 0, another = 0;
    do {
      MPI_Test(&request, &here, MPI_STATUS_IGNORE);
      if (another == 0) MPI_Iprobe(MPI_ANY_SOURCE, 0, last_, &another, MPI_STATUS_IGNORE);
      if (here == 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    } while (here == 0 && MPI_Wtime() < end);
    if (here != 0) return Came::all;
    return another != 0 ? Came::some : Came::some_and_first;
  }

  void end_all() noexcept override { MPI_Abort(MPI_COMM_WORLD, 1); }

 protected:
  void exchange(const void* mine, std::size_t bytes, void* all) override {
    const int count = static_cast<int>(bytes);
    count_gather(bytes * static_cast<std::size_t>(size_ - 1));
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, world_);
  }

  void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    const Pieces pieces(bytes);
    count_gather(pieces.all - bytes[static_cast<std::size_t>(rank_)]);
    MPI_Allgatherv(mine, pieces.counts[static_cast<std::size_t>(rank_)], MPI_BYTE, all, pieces.counts.data(),
                   pieces.places.data(), MPI_BYTE, world_);
  }

  void exchange_in_place(std::span<const std::size_t> bytes, void* all) override {
    const Pieces pieces(bytes);
    count_gather(pieces.all - bytes[static_cast<std::size_t>(rank_)]);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, pieces.counts.data(), pieces.places.data(), MPI_BYTE, world_);
  }

  void hand_round(const void* pieces, std::span<const std::size_t> bytes, void* got,
                  std::span<const std::size_t> got_bytes) override {
    const Pieces out(bytes), in(got_bytes);
    count_swap(in.all - got_bytes[static_cast<std::size_t>(rank_)]);
    MPI_Alltoallv(pieces, out.counts.data(), out.places.data(), MPI_BYTE, got, in.counts.data(), in.places.data(),
                  MPI_BYTE, world_);
  }

 private:
  struct Pieces {
    std::vector<int> counts, places;
    std::size_t all = 0;
    explicit Pieces(std::span<const std::size_t> bytes) {
      for (const std::size_t size : bytes) {
        counts.push_back(static_cast<int>(size));
        places.push_back(static_cast<int>(all));
        all += size;
      }
      if (all > std::numeric_limits<int>::max())
        throw std::length_error("exchanging pieces among ranks: expected less than 2 GB at once, found " +
                                std::to_string(all) + " bytes");
    }
  };

  MPI_Comm world_ = MPI_COMM_NULL;
  MPI_Comm last_ = MPI_COMM_NULL;  // for those that cannot go on; only where these are all ranks
  int rank_ = 0, size_ = 1;
};

}  // namespace

extern "C" const char* lano_mpi_interface() { return LANO_RANKS_INTERFACE; }

extern "C" lano::Ranks* lano_make_ranks() { return new MpiRanks; }

extern "C" const char* lano_mpi_version() {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  MPI_Get_library_version(text, &length);
  for (int i = 0; i < length; ++i) {
    if (text[i] == '\n' || text[i] == ',') text[i] = '\0';
  }
  return text;
}
