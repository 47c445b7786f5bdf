#include "train/epoch_plan.h"

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace lano {

EpochPlan::EpochPlan(const TrainConfig& config, std::int64_t samples, std::int64_t starts)
    : seed_(config.seed),
      batch_(config.batch),
      accumulate_(config.accumulate),
      starts_(starts),
      all_(samples * starts),
      items_(config.epoch_samples > 0 ? std::min(config.epoch_samples, all_) : all_) {}

std::vector<std::vector<Item>> EpochPlan::batches(std::int64_t epoch, std::int64_t first_step) const {
  std::vector<std::int64_t> order(static_cast<std::size_t>(all_));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  RandomStream stream(static_cast<std::uint64_t>(seed_), Purpose::shuffle, static_cast<std::uint64_t>(epoch));
  shuffle(order, stream);
  std::vector<std::vector<Item>> all;
  for (std::int64_t at = first_step * items_per_step(); at < items_; at += batch_) {
    all.emplace_back();
    for (std::int64_t i = at; i < std::min(at + batch_, items_); ++i) {
      const std::int64_t item = order[static_cast<std::size_t>(i)];
      all.back().push_back({item / starts_, item % starts_});
    }
  }
  return all;
}

}  // namespace lano
