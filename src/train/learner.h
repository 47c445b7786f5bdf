// One step of training: the loss of some batches, backward, clipping, AdamW at the schedule's rate, the running mean of the weights.
// Everything random in it comes from (seed, step), so a step can be done again to the bit from the state before it.
#pragma once

#include <memory>

#include "train/adamw.h"
#include "train/config.h"
#include "train/flat_parameters.h"
#include "train/loss.h"
#include "train/sample_feed.h"

namespace lano {

class Learner {
 public:
  Learner(const TrainConfig& config, std::shared_ptr<OperatorModel> model, ChannelMap output, FieldLoss loss);

  struct Step {
    double loss = 0, learning_rate = 0;
    bool finite = true;  // where not, no weight was changed
  };
  // parts: batches whose gradients make this step together, as one large batch would.
  Step step(const std::vector<PreparedBatch>& parts, std::int64_t total_steps, std::int64_t steps_per_epoch);

  std::int64_t steps() const { return optimiser_.steps(); }
  FlatParameters& parameters() { return flat_; }
  const Adamw& optimiser() const { return optimiser_; }
  const std::vector<float>& average() const { return average_; }  // empty without train.ema
  void restore(std::int64_t steps, const std::vector<float>& weights, const std::vector<float>& buffers, const std::vector<float>& average,
               const std::vector<float>& first_moment, const std::vector<float>& second_moment);

 private:
  torch::Tensor loss(const PreparedBatch& part, std::uint64_t place);
  void draw_agents();

  TrainConfig config_;
  std::shared_ptr<OperatorModel> model_;
  ChannelMap output_;
  FieldLoss loss_;
  FlatParameters flat_;
  Adamw optimiser_;
  std::vector<float> average_;
};

}  // namespace lano
