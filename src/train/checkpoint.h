// All that a stopped run needs to resume, and the folder of such states: the last two and the one with the best
// validation error. A state is written atomically with a checksum; if it is damaged, the one before is used.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "run/run_metrics.h"
#include "run/selection.h"

namespace lano {

struct Checkpoint {
  std::int64_t epoch = 0;                    // whole epochs done
  std::int64_t steps = 0;                    // steps of the optimiser, over all epochs
  double epoch_loss = 0, epoch_seconds = 0;  // of the epoch under way
  KeptWeights best;                          // the choice so far
  bool ended = false;                        // by early stop
  std::string config;                        // the run's TOML: another config may not resume it
  std::string data;                          // the dataset in words, with a fingerprint: another dataset is refused too
  std::int64_t threads = 0;                  // it was computed with
  std::vector<EpochMetrics> history;
  std::vector<float> weights, average, best_weights, first_moment, second_moment;  // flat; average may be empty
  std::vector<float> buffers,
      best_buffers;  // running statistics now and with the best weights; empty for models without
};

// A state of another build, which computes differently: resuming from it would not give the same bits.
class OtherVersionError : public Error {
 public:
  using Error::Error;
};

void write_checkpoint(const std::filesystem::path& path, const Checkpoint& checkpoint);
Checkpoint read_checkpoint(const std::filesystem::path& path);

class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path path) : path_(std::move(path)) {}

  // Writes the state and returns its path, then removes all but the last two; `best` keeps it as best.safetensors too.
  std::filesystem::path save(const Checkpoint& checkpoint, bool best) const;
  void keep_as_best(const std::filesystem::path& path) const;
  struct Found {
    Checkpoint checkpoint;
    std::filesystem::path path;
  };
  // The newest complete state, none if there is no file at all; each damaged one that is skipped adds a sentence to
  // `said` and is put aside as *.damaged. Fails if there are files and none is complete. Leaves the last two, as save
  // does.
  std::optional<Found> newest(std::vector<std::string>& said) const;
  std::vector<std::filesystem::path> files() const;  // states by step, oldest first
  std::filesystem::path best() const { return path_ / "best.safetensors"; }

 private:
  void remove_old() const;

  std::filesystem::path path_;
};

}  // namespace lano
