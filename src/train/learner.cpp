#include "train/learner.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "train/rollout.h"
#include "train/sample_changes.h"

namespace lano {
namespace {

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

Learner::Learner(const TrainConfig& config, std::shared_ptr<OperatorModel> model, ChannelMap output, FieldLoss loss)
    : config_(config),
      model_(std::move(model)),
      output_(std::move(output)),
      loss_(std::move(loss)),
      flat_(*model_),
      optimiser_(flat_.values().size(), config.optimiser, flat_.groups(config.optimiser.decay)) {
  if (config.ema > 0) average_ = copied(flat_.values());
}

torch::Tensor Learner::loss(const PreparedBatch& part, std::uint64_t place) {
  std::vector<Item> items = part.items;
  const TensorSet& set = *part.set;
  std::vector<std::int64_t> sizes, frames;
  for (const Item& item : items) {
    sizes.push_back(set.points_of(item.row));
    frames.push_back(item.frame);
  }
  const SampleChanges changes(config_.augment, config_.points, sizes, static_cast<std::uint64_t>(config_.seed),
                              static_cast<std::uint64_t>(steps()), place);
  Batch batch = set.batch(items);
  changes.apply(batch);
  const auto truth = [&] { return changes.apply(set.truth(items), set.mesh()); };
  const auto judged = [&](const torch::Tensor& network) { return loss_(decode_output(network, output_), truth(), batch.counts, frames); };
  if (config_.lano.task != Task::autoregressive) return judged(model_->forward(batch));
  torch::Tensor sum;
  roll_out(*model_, batch, encode_output(truth(), output_), config_.rollout, [&](std::int64_t step, const torch::Tensor& state) {
    for (Item& item : items) ++item.frame;
    frames.assign(items.size(), step - 1);  // weights belong to the steps rolled out
    const torch::Tensor one = judged(state);
    sum = sum.defined() ? sum + one : one;
  });
  return sum / static_cast<double>(config_.rollout);
}

// Log-uniform in the range; on a grid the model takes the nearest patch grid of good aspect.
void Learner::draw_agents() {
  if (config_.agents_range.empty()) return;
  RandomStream stream(static_cast<std::uint64_t>(config_.seed), Purpose::agents, static_cast<std::uint64_t>(steps()));
  const double least = std::log(config_.agents_range[0]), most = std::log(config_.agents_range[1]);
  model_->use_agents(std::llround(std::exp(least + (most - least) * stream.uniform())));
}

Learner::Step Learner::step(const std::vector<PreparedBatch>& parts, std::int64_t total_steps, std::int64_t steps_per_epoch) {
  const ScheduleValue now = schedule_value(config_.schedule, steps(), total_steps, steps_per_epoch);
  Step done{0, now.learning_rate, true};
  model_->train();
  draw_agents();
  flat_.zero_gradients();
  std::size_t all = 0, place = 0;
  for (const PreparedBatch& part : parts) all += part.items.size();
  for (const PreparedBatch& part : parts) {
    if (config_.lano.dropout > 0 || config_.model != "lano") {
      // LibTorch draws masks from its own generator: give each batch a seed of its own, so that a resumed run agrees.
      RandomStream masks(static_cast<std::uint64_t>(config_.seed), Purpose::dropout, static_cast<std::uint64_t>(steps()), place);
      torch::manual_seed(masks.next());
    }
    const double share = static_cast<double>(part.items.size()) / static_cast<double>(all);
    const torch::Tensor value = parts.size() == 1 ? loss(part, place) : loss(part, place) * share;
    value.backward();
    done.loss += value.item<double>();
    place += part.items.size();
  }
  if (!config_.agents_range.empty()) model_->use_agents(config_.lano.agents);
  const double norm = clip_gradients(flat_.gradients(), config_.clip);
  done.finite = std::isfinite(done.loss) && std::isfinite(norm);
  if (!done.finite) return done;
  optimiser_.step(flat_.values(), flat_.gradients(), now.learning_rate, now.beta1);
  if (!average_.empty()) {
    // The first steps are forgotten faster: the mean of few values would remember the start too long.
    const auto t = static_cast<double>(steps());
    const auto keep = static_cast<float>(std::min(config_.ema, (1 + t) / (10 + t)));
    const std::span<const float> values = flat_.values();
    for (std::size_t i = 0; i < average_.size(); ++i) average_[i] = keep * average_[i] + (1 - keep) * values[i];
  }
  return done;
}

void Learner::restore(std::int64_t steps, const std::vector<float>& weights, const std::vector<float>& buffers, const std::vector<float>& average,
                      const std::vector<float>& first_moment, const std::vector<float>& second_moment) {
  if (weights.size() != flat_.values().size() || average.size() != average_.size()) {
    fail("resuming a run", std::to_string(flat_.values().size()) + " parameters", std::to_string(weights.size()), "the checkpoint is of another model");
  }
  load_buffers(*model_, buffers, "resuming a run");
  std::copy(weights.begin(), weights.end(), flat_.values().begin());
  average_ = average;
  optimiser_.restore(steps, first_moment, second_moment);
}

}  // namespace lano
