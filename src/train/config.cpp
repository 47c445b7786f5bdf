#include "train/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "model_spec/architecture.h"

namespace lano {

void bind_train_config(Schema& schema, TrainConfig& c) {
  schema.bind("data.file", c.data, "the dataset file");
  schema.bind<TrainOn>("data.train_on", c.train_on,
                       {{"train", TrainOn::train}, {kTrainAndValidation, TrainOn::train_and_validation}},
                       "the splits to learn from; with validation included, the last weights are kept");
  schema.bind<Times>("data.times", c.times, {{"frames", Times::frames}, {"channels", Times::channels}},
                     "of a dataset with times: learned frame by frame, or all at once, as channels of one output (with "
                     "model.task = \"steady\")");
  schema.bind("data.memory_gb", c.memory_gb,
              "larger training splits are read from the file ahead of each step; 0 for always");
  schema.bind("model.name", c.model, "which operator");
  bind_lano_config(schema, c.lano);
  bind_baseline_config(schema, c.baseline);
  schema.bind("train.epochs", c.epochs, "passes over the training split");
  schema.bind("train.from", c.from, "a model file whose weights training begins with (--from); empty: random weights");
  schema.bind("train.epoch_samples", c.epoch_samples,
              "samples per epoch (time-dependent datasets: starts), drawn at random each time; 0 for all");
  schema.bind("train.batch", c.batch, "samples per step");
  schema.bind("train.accumulate", c.accumulate, "batches whose gradients make one step");
  schema.bind("train.seed", c.seed, "seed of initial weights, order and every other random draw");
  schema.bind("train.clip", c.clip, "largest gradient norm, 0 for none");
  schema.bind("train.ema", c.ema, "decay of the running mean of the weights, which is validated too; 0 for none");
  schema.bind("train.patience", c.patience,
              "number of epochs without a better validation error before stopping, 0 for never");
  schema.bind("train.points", c.points, "point clouds: number of random points of each sample per step, 0 for all");
  schema.bind("train.points_share", c.points_share,
              "share of the steps, the first ones, that use train.points; the rest use all points");
  schema.bind<Augment>("train.augment", c.augment,
                       {{"none", Augment::none}, {"flips", Augment::flips}, {"rotations", Augment::rotations}},
                       "symmetries of a square domain, drawn for each sample; only where the PDE has them");
  schema.bind("train.agents_range", c.agents_range,
              "[least, most] agents, drawn at random each step, so that one model works with many numbers; [] for "
              "model.agents");
  schema.bind<LossKind>("train.loss", c.loss.kind, {{"relative_l2", LossKind::relative_l2}, {"l2", LossKind::l2}},
                        "error relative to the truth, or its root mean square");
  schema.bind("train.channel_weights", c.loss.channel_weights, "weight of each output channel in the loss, [] for 1");
  schema.bind("train.frame_weights", c.loss.frame_weights,
              "time-dependent datasets: weight of each frame, or of each rolled-out step, [] for 1");
  schema.bind("train.gradient_weight", c.loss.gradient_weight,
              "weight of the gradient term of the loss, uniform grids only");
  schema.bind<GradientKind>("train.gradient_kind", c.loss.gradient_kind,
                            {{"joint", GradientKind::joint}, {"axes", GradientKind::axes}},
                            "of that term: one norm over all axes at interior points, or one term per axis with zeros "
                            "on and outside the boundary, as public Darcy scripts have it");
  schema.bind("train.rollout", c.rollout, "autoregressive: steps rolled out in training; 1 is teacher forcing");
  schema.bind("train.increments", c.increments,
              "autoregressive: the network gives the change from frame to frame, not the next frame");
  schema.bind(
      "train.noise", c.noise,
      "autoregressive: normal noise on the state a step starts from, relative to its root mean square; 0 for none");
  schema.bind("train.frames", c.frames, "time-dependent datasets: number of first frames to learn from, 0 for all");
  schema.bind<Engine>("train.engine", c.engine, {{"fused", Engine::fused}, {"composite", Engine::composite}},
                      "fused kernels, or plain LibTorch calls: the reference");
  schema.bind<Selection>("train.selection", c.selection, {{"best", Selection::best}, {"last", Selection::last}},
                         "weights kept: best on validation, or the last");
  schema.bind<ScheduleKind>("schedule.kind", c.schedule.kind,
                            {{"one_cycle", ScheduleKind::one_cycle},
                             {"cosine", ScheduleKind::cosine},
                             {"step", ScheduleKind::step},
                             {"constant", ScheduleKind::constant}},
                            "how the learning rate changes over the steps");
  schema.bind("schedule.learning_rate", c.schedule.learning_rate, "the peak rate");
  schema.bind("schedule.pct_start", c.schedule.pct_start, "share of the steps in which OneCycle rises");
  schema.bind("schedule.div_factor", c.schedule.div_factor, "OneCycle: peak rate over first rate");
  schema.bind("schedule.final_div_factor", c.schedule.final_div_factor, "OneCycle: first rate over last rate");
  schema.bind("schedule.warmup", c.schedule.warmup,
              "cosine, step, constant: share of the steps in which the rate rises from 0");
  schema.bind("schedule.step_epochs", c.schedule.step_epochs, "step: epochs between two reductions of the rate");
  schema.bind("schedule.step_factor", c.schedule.step_factor, "step: rate after a reduction over rate before");
  schema.bind<OptimiserKind>("optimiser.kind", c.optimiser.kind,
                             {{"adamw", OptimiserKind::adamw}, {"muon", OptimiserKind::muon}},
                             "AdamW for all weights, or Muon for the linear maps and AdamW for the rest");
  schema.bind("optimiser.momentum", c.optimiser.momentum, "momentum of Muon");
  schema.bind("optimiser.weight_decay", c.optimiser.weight_decay, "weight decay per unit of the learning rate");
  schema.bind<Decay>("optimiser.decay", c.optimiser.decay, {{"all", Decay::all}, {"matrices", Decay::matrices}},
                     "which weights decay: all, or all but biases, norms and vectors");
  schema.bind("optimiser.beta2", c.optimiser.beta2, "beta2 of AdamW");
  schema.bind("optimiser.epsilon", c.optimiser.epsilon, "epsilon of AdamW");
  schema.bind("checkpoint.steps", c.checkpoint_steps,
              "steps between checkpoints, 0 for none; there is always one after each epoch");
  schema.bind("checkpoint.minutes", c.checkpoint_minutes, "minutes between checkpoints, 0 for none");
  const std::vector<std::pair<std::string, Scaling>> scaling{{"channel", Scaling::channel}, {"none", Scaling::none}};
  schema.bind<Scaling>("normalise.coordinates", c.coordinates, scaling, "zero mean and unit deviation, or as they are");
  schema.bind("normalise.displacement", c.displacement,
              "meshes that differ from sample to sample: the displacement from their mean joins the input");
  schema.bind<Scaling>("normalise.input", c.input, scaling, "zero mean and unit deviation, or as they are");
  schema.bind<Scaling>("normalise.output", c.output,
                       {{"channel", Scaling::channel}, {"none", Scaling::none}, {"field", Scaling::field}},
                       "zero mean and unit deviation, as they are, or (meshes) the difference from the mean field");
  schema.bind<StartScaling>("normalise.from", c.from_normaliser,
                            {{"keep", StartScaling::keep}, {"refit", StartScaling::refit}},
                            "with train.from: the model file's own normaliser, or one fitted to the new dataset");
}

std::string to_toml(TrainConfig config) {
  Schema schema;
  bind_train_config(schema, config);
  return schema.to_toml();
}

void check_data_file(const std::string& path) {
  constexpr const char* kReading = "reading the training config";
  if (path.empty()) fail_usage_plainly(kReading, "no dataset is given", "give it with --data FILE or data.file");
  if (!is_utf8(path)) fail_usage(kReading, "a path of the dataset in UTF-8, as config files are", path);
}

void check_train_config(const TrainConfig& c) {
  const auto require = [](bool good, const char* expected, auto found) {
    if (!good) fail_usage("reading the training config", expected, fmt::format("{}", found));
  };
  // Products of these count items and steps: they may not overflow, nor mean more than anybody waits for.
  constexpr std::int64_t kMany = 1'000'000'000;
  check_data_file(c.data);
  require(is_utf8(c.from), "a path of train.from in UTF-8, as config files are", c.from);
  require(c.epochs >= 1 && c.epochs <= kMany, "train.epochs of 1 to a billion", c.epochs);
  require(c.epoch_samples >= 0, "train.epoch_samples of at least 0", c.epoch_samples);
  require(c.batch >= 1 && c.batch <= kMany, "train.batch of 1 to a billion", c.batch);
  require(c.accumulate >= 1 && c.accumulate <= kMany / c.batch,
          "train.accumulate of at least 1, and train.batch times it of at most a billion", c.accumulate);
  require(c.seed >= 0, "train.seed of at least 0", c.seed);
  require(c.clip >= 0 && std::isfinite(c.clip), "train.clip of at least 0, finite", c.clip);
  require(c.loss.gradient_weight >= 0 && std::isfinite(c.loss.gradient_weight),
          "train.gradient_weight of at least 0, finite", c.loss.gradient_weight);
  if (c.train_on == TrainOn::train_and_validation) {
    require(
        c.selection == Selection::last,
        "train.selection = \"last\" for data.train_on = \"train+validation\": no sample is left to choose weights by",
        "\"best\"");
    require(c.patience == 0,
            "train.patience = 0 for data.train_on = \"train+validation\": no sample is left to compare epochs on",
            c.patience);
  }
  require(c.memory_gb >= 0, "data.memory_gb of at least 0", c.memory_gb);
  require(c.ema >= 0 && c.ema < 1, "train.ema in [0, 1)", c.ema);
  require(c.patience >= 0, "train.patience of at least 0", c.patience);
  require(c.points >= 0, "train.points of at least 0", c.points);
  require(c.points_share > 0 && c.points_share <= 1, "train.points_share above 0 and at most 1", c.points_share);
  const auto weights = [&](const std::vector<double>& values, const char* expected) {
    double sum = 0;
    for (const double value : values) sum += value;
    const bool good =
        std::all_of(values.begin(), values.end(), [](double value) { return value >= 0 && std::isfinite(value); });
    require(good && (values.empty() || sum > 0), expected, fmt::format("[{}]", fmt::join(values, ", ")));
  };
  weights(c.loss.channel_weights, "train.channel_weights of at least 0, not all 0");
  weights(c.loss.frame_weights, "train.frame_weights of at least 0, not all 0");
  const auto& range = c.agents_range;
  require(range.empty() || (range.size() == 2 && range[0] >= 1 && range[0] <= range[1] && range[1] <= kMostAgents &&
                            std::floor(range[0]) == range[0] && std::floor(range[1]) == range[1]),
          "train.agents_range = [least, most] in whole numbers of at most 65536",
          fmt::format("[{}]", fmt::join(range, ", ")));
  require(range.empty() || is_lano(c.model),
          "model.name = \"lano\" for train.agents_range: other models have no agents", fmt::format("'{}'", c.model));
  require(range.empty() || c.lano.agent_tokens == Agents::pooled, "pooled agents for train.agents_range",
          "latent ones");
  require(c.checkpoint_steps >= 0, "checkpoint.steps of at least 0", c.checkpoint_steps);
  require(c.checkpoint_minutes >= 0, "checkpoint.minutes of at least 0", c.checkpoint_minutes);
  require(c.schedule.warmup >= 0 && c.schedule.warmup < 1, "schedule.warmup in [0, 1)", c.schedule.warmup);
  require(c.schedule.step_epochs >= 1, "schedule.step_epochs of at least 1", c.schedule.step_epochs);
  require(c.schedule.step_factor > 0 && c.schedule.step_factor <= 1, "schedule.step_factor in (0, 1]",
          c.schedule.step_factor);
  require(c.rollout >= 1 && c.rollout <= kMany, "train.rollout of 1 to a billion", c.rollout);
  require(c.noise >= 0 && c.noise <= 1, "train.noise of 0 to 1", c.noise);
  const bool steps = c.lano.task == Task::autoregressive;
  require(steps || (!c.increments && c.noise == 0),
          "model.task = \"autoregressive\" for train.increments and train.noise",
          c.lano.task == Task::steady ? "\"steady\"" : "\"time_conditional\"");
  require(!steps || c.output != Scaling::field,
          "normalise.output = \"channel\" or \"none\" for models that step in time", "\"field\"");
  require(c.frames >= 0, "train.frames of at least 0", c.frames);
  const bool together = c.times == Times::channels;
  require(!together || c.lano.task == Task::steady, "model.task = \"steady\" for data.times = \"channels\"",
          steps ? "\"autoregressive\"" : "\"time_conditional\"");
  require(!together || c.frames == 0, "data.times = \"frames\" for train.frames", "\"channels\"");
  require(c.schedule.learning_rate > 0 && std::isfinite(c.schedule.learning_rate),
          "schedule.learning_rate above 0, finite", c.schedule.learning_rate);
  require(c.schedule.pct_start >= 0 && c.schedule.pct_start < 1, "schedule.pct_start in [0, 1)", c.schedule.pct_start);
  require(c.schedule.div_factor > 0 && std::isfinite(c.schedule.div_factor), "schedule.div_factor above 0, finite",
          c.schedule.div_factor);
  require(c.schedule.final_div_factor > 0 && std::isfinite(c.schedule.final_div_factor),
          "schedule.final_div_factor above 0, finite", c.schedule.final_div_factor);
  require(c.optimiser.momentum >= 0 && c.optimiser.momentum < 1, "optimiser.momentum in [0, 1)", c.optimiser.momentum);
  require(c.optimiser.weight_decay >= 0 && std::isfinite(c.optimiser.weight_decay),
          "optimiser.weight_decay of at least 0, finite", c.optimiser.weight_decay);
  require(c.optimiser.epsilon > 0 && std::isfinite(c.optimiser.epsilon), "optimiser.epsilon above 0, finite",
          c.optimiser.epsilon);
  require(c.optimiser.beta2 > 0 && c.optimiser.beta2 < 1, "optimiser.beta2 in (0, 1)", c.optimiser.beta2);
  if (is_lano(c.model))
    check_lano_config(c.lano);
  else
    check_baseline_config(baseline_config(c.model, c.lano, c.baseline));
}

}  // namespace lano
