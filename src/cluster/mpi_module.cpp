// MPI behind core/ranks.h, in a module of its own that `lano` loads only where it was started by mpirun: a machine
// without MPI neither needs nor notices it. One communicator of our own, calls from one thread.
#include <mpi.h>

#include <cstdio>
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
  }
  ~MpiRanks() override {
    MPI_Comm_free(&world_);
    MPI_Finalize();
  }
  int rank() const override { return rank_; }
  int size() const override { return size_; }

 protected:
  void exchange(const void* mine, std::size_t bytes, void* all) override {
    const int count = static_cast<int>(bytes);
    MPI_Allgather(mine, count, MPI_BYTE, all, count, MPI_BYTE, world_);
  }

  void exchange(const void* mine, std::span<const std::size_t> bytes, void* all) override {
    const Pieces pieces(bytes);
    MPI_Allgatherv(mine, pieces.counts[static_cast<std::size_t>(rank_)], MPI_BYTE, all, pieces.counts.data(),
                   pieces.places.data(), MPI_BYTE, world_);
  }

  void exchange_in_place(std::span<const std::size_t> bytes, void* all) override {
    const Pieces pieces(bytes);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_BYTE, all, pieces.counts.data(), pieces.places.data(), MPI_BYTE, world_);
  }

  void hand_round(const void* pieces, std::span<const std::size_t> bytes, void* got,
                  std::span<const std::size_t> got_bytes) override {
    const Pieces out(bytes), in(got_bytes);
    MPI_Alltoallv(pieces, out.counts.data(), out.places.data(), MPI_BYTE, got, in.counts.data(), in.places.data(),
                  MPI_BYTE, world_);
  }

 private:
  struct Pieces {
    std::vector<int> counts, places;
    explicit Pieces(std::span<const std::size_t> bytes) {
      int at = 0;
      for (const std::size_t size : bytes) {
        counts.push_back(static_cast<int>(size));
        places.push_back(at);
        at += counts.back();
      }
    }
  };

  MPI_Comm world_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace

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
