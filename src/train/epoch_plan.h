// Which samples (and frames) each step of an epoch learns from. It depends on (seed, epoch) alone, so a resumed epoch
// continues with the batches it would have had.
#pragma once

#include <cstdint>
#include <vector>

#include "data/sample_set.h"
#include "train/config.h"

namespace lano {

class EpochPlan {
 public:
  // starts: frames of a sample that training starts from; each is a separate item.
  EpochPlan(const TrainConfig& config, std::int64_t samples, std::int64_t starts);

  std::int64_t items() const { return items_; }  // of an epoch
  std::int64_t steps() const { return (items_ + items_per_step() - 1) / items_per_step(); }
  std::int64_t items_per_step() const { return batch_ * accumulate_; }

  // The batches of an epoch from this step on; those of one step, `accumulate` of them, follow each other.
  std::vector<std::vector<Item>> batches(std::int64_t epoch, std::int64_t first_step) const;

 private:
  std::int64_t seed_, batch_, accumulate_, starts_, all_, items_;
};

}  // namespace lano
