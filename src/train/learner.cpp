#include "train/learner.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "core/ranks.h"
#include "train/flat.h"
#include "train/sample_changes.h"

namespace lano {
namespace {

std::vector<float> copied(std::span<const float> values) { return {values.begin(), values.end()}; }

}  // namespace

Learner::Learner(const TrainConfig& config, std::unique_ptr<Trainable> model)
    : config_(config), model_(std::move(model)), optimiser_(config.optimiser, model_->layout()) {
  state_frames_ = model_->architecture().value("state_frames", std::int64_t{1});
  if (config.ema > 0) average_ = copied(model_->values());
}

// The batch as the model sees it, with every frame of truth in the loss.
Lesson Learner::lesson(const PreparedBatch& part, std::uint64_t place, std::int64_t total_steps) const {
  const SampleSet& set = *part.set;
  std::vector<std::int64_t> sizes;
  for (const Item& item : part.items) sizes.push_back(set.points_of(item.row));
  Lesson lesson;
  lesson.step = static_cast<std::uint64_t>(steps());
  lesson.place = place;
  const bool coarse = static_cast<double>(steps()) < config_.points_share * static_cast<double>(total_steps);
  const SampleChanges changes(config_.augment, coarse ? config_.points : 0, sizes,
                              static_cast<std::uint64_t>(config_.seed), lesson.step, place);
  lesson.batch = set.batch(part.items);
  changes.apply(lesson.batch);
  const bool steps_in_time = config_.lano.task == Task::autoregressive;
  std::vector<Item> items = part.items;
  const auto weigh = [&](auto&& frame_of) {
    if (config_.loss.frame_weights.empty()) return;
    lesson.weights.emplace_back();
    for (const Item& item : items) {
      lesson.weights.back().push_back(config_.loss.frame_weights.at(static_cast<std::size_t>(frame_of(item))));
    }
  };
  const std::int64_t given = state_frames_, frames = steps_in_time ? given + config_.rollout : 1;
  for (std::int64_t k = 0; k < frames; ++k) {
    lesson.truth.push_back(changes.apply(set.truth(items), set.mesh()));
    if (!steps_in_time) weigh([](const Item& item) { return item.frame; });
    if (steps_in_time && k >= given) weigh([&](const Item&) { return k - given; });  // of the steps rolled out
    for (Item& item : items) ++item.frame;
  }
  if (config_.noise > 0) add_noise(lesson);
  return lesson;
}

// A roll-out starts each step from a state that is a little wrong; so does training then. Relative to the root mean
// square of each sample's state.
void Learner::add_noise(Lesson& lesson) const {
  const std::size_t channels = lesson.truth.front().size() / static_cast<std::size_t>(lesson.batch.points());
  std::size_t first = 0;
  for (std::size_t b = 0; b < lesson.batch.sizes.size(); ++b) {
    const std::size_t size = static_cast<std::size_t>(lesson.batch.sizes[b]) * channels;
    RandomStream stream(static_cast<std::uint64_t>(config_.seed), Purpose::noise, lesson.step, lesson.place + b);
    for (std::size_t frame = 0; frame < static_cast<std::size_t>(state_frames_); ++frame) {
      const std::span<float> state = std::span(lesson.truth[frame]).subspan(first, size);
      std::vector<double> squares(channels);
      for (std::size_t i = 0; i < size; ++i) squares[i % channels] += std::pow(static_cast<double>(state[i]), 2);
      for (std::size_t i = 0; i < size; ++i) {
        const double rms = std::sqrt(squares[i % channels] * static_cast<double>(channels) / static_cast<double>(size));
        state[i] += static_cast<float>(config_.noise * rms * stream.normal());
      }
    }
    first += size;
  }
}

// Log-uniform in the range; on a grid the model takes the nearest patch grid of good aspect.
void Learner::draw_agents() {
  if (config_.agents_range.empty()) return;
  RandomStream stream(static_cast<std::uint64_t>(config_.seed), Purpose::agents, static_cast<std::uint64_t>(steps()));
  const double least = std::log(config_.agents_range[0]), most = std::log(config_.agents_range[1]);
  model_->use_agents(std::llround(std::exp(least + (most - least) * stream.uniform())));
}

// A lesson of this rank's share of a batch; the gradients of all samples are added up in order, as one rank would.
double Learner::learn_together(const PreparedBatch& part, Lesson lesson) {
  lesson.of = part.of;
  SampleLessons& each = each_;
  each.losses.clear();
  each.gradients.resize(part.items.size() * model_->gradients().size());
  if (!part.items.empty()) model_->learn_samples(lesson, each);
  const std::span<float> gradients = model_->gradients();
  // Ranks that share their meshes have the same gradients: one of them gives them.
  const bool gives = mesh_ranks().first();
  const std::span<const float> given = gives ? std::span<const float>(each.gradients) : std::span<const float>();
  if (lesson.first) {
    ranks().sum_rows(given, gradients);
  } else {
    std::vector<float> sum(gradients.size());
    ranks().sum_rows(given, sum);
    add_to(gradients, sum);
  }
  double loss = 0;
  for (const double one : ranks().gather(gives ? std::span<const double>(each.losses) : std::span<const double>()))
    loss += one;
  return loss / static_cast<double>(part.of);
}

Learner::Step Learner::step(const std::vector<PreparedBatch>& parts, std::int64_t total_steps,
                            std::int64_t steps_per_epoch) {
  const ScheduleValue now = schedule_value(config_.schedule, steps(), total_steps, steps_per_epoch);
  Step done{0, now.learning_rate, true};
  draw_agents();
  std::size_t all = 0, place = 0;
  const auto size_of = [](const PreparedBatch& part) {
    return part.of > 0 ? static_cast<std::size_t>(part.of) : part.items.size();
  };
  for (const PreparedBatch& part : parts) all += size_of(part);
  for (const PreparedBatch& part : parts) {
    const std::uint64_t first = place + static_cast<std::uint64_t>(part.before);
    Lesson now_learned = part.items.empty() ? Lesson() : lesson(part, first, total_steps);
    now_learned.share = static_cast<double>(size_of(part)) / static_cast<double>(all);
    now_learned.first = place == 0;
    done.loss += now_learned.share *
                 (mesh_groups() == 1 ? model_->learn(now_learned) : learn_together(part, std::move(now_learned)));
    place += size_of(part);
  }
  if (!config_.agents_range.empty()) model_->use_agents(config_.lano.agents);
  const double norm = clip_gradients(model_->gradients(), config_.clip);
  done.finite = std::isfinite(done.loss) && std::isfinite(norm);
  if (!done.finite) return done;
  optimiser_.step(model_->values(), model_->gradients(), now.learning_rate, now.beta1);
  if (!average_.empty()) {
    // The first steps are forgotten faster: the mean of few values would remember the start too long.
    const auto t = static_cast<double>(steps());
    const auto keep = static_cast<float>(std::min(config_.ema, (1 + t) / (10 + t)));
    const std::span<const float> values = model_->values();
    for (std::size_t i = 0; i < average_.size(); ++i) average_[i] = keep * average_[i] + (1 - keep) * values[i];
  }
  return done;
}

void Learner::restore(std::int64_t steps, const std::vector<float>& weights, const std::vector<float>& buffers,
                      const std::vector<float>& average, const std::vector<float>& first_moment,
                      const std::vector<float>& second_moment) {
  const std::span<float> values = model_->values();
  if (weights.size() != values.size() || average.size() != average_.size()) {
    fail("resuming a run", std::to_string(values.size()) + " parameters", std::to_string(weights.size()),
         "the checkpoint is of another model");
  }
  model_->load_buffers(buffers, "resuming a run");
  std::copy(weights.begin(), weights.end(), values.begin());
  average_ = average;
  optimiser_.restore(steps, first_moment, second_moment);
}

}  // namespace lano
