// One step of training: the loss of some batches, backward, clipping, the optimiser at the schedule's rate, the running
// mean of the weights. Everything random in it comes from (seed, step), so a step can be repeated bit for bit from the
// state before it.
#pragma once

#include <memory>

#include "data/sample_feed.h"
#include "train/config.h"
#include "train/optimiser.h"
#include "train/trainable.h"

namespace lano {

class Learner {
 public:
  Learner(const TrainConfig& config, std::unique_ptr<Trainable> model);

  struct Step {
    double loss = 0, learning_rate = 0;
    bool finite = true;  // where not, no weight was changed
  };
  // parts: batches whose gradients make this step together, as one large batch would. On several ranks (core/ranks.h)
  // each has its own share of every batch, and all end with the same weights.
  Step step(const std::vector<PreparedBatch>& parts, std::int64_t total_steps, std::int64_t steps_per_epoch);

  std::int64_t steps() const { return optimiser_.steps(); }
  Trainable& model() { return *model_; }
  const Trainable& model() const { return *model_; }
  const Optimiser& optimiser() const { return optimiser_; }
  const std::vector<float>& average() const { return average_; }  // empty without train.ema
  void restore(std::int64_t steps, const std::vector<float>& weights, const std::vector<float>& buffers,
               const std::vector<float>& average, const std::vector<float>& first_moment,
               const std::vector<float>& second_moment);

 private:
  Lesson lesson(const PreparedBatch& part, std::uint64_t place, std::int64_t total_steps) const;
  double learn_together(const PreparedBatch& part, Lesson lesson);
  void draw_agents();
  void add_noise(Lesson& lesson) const;

  TrainConfig config_;
  std::unique_ptr<Trainable> model_;
  Optimiser optimiser_;
  std::vector<float> average_;
  std::int64_t state_frames_ = 1;
  SampleLessons each_;  // of this rank's share of a batch; kept, since new memory at every step costs page faults
};

}  // namespace lano
