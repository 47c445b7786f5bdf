#include "train/config.h"

#include <fmt/format.h>

#include "core/error.h"

namespace lano {

void bind_train_config(Schema& schema, TrainConfig& c) {
  schema.bind("data.file", c.data, "the dataset file");
  schema.bind("model.name", c.model, "which operator");
  bind_lano_config(schema, c.lano);
  schema.bind("train.epochs", c.epochs, "passes over the training split");
  schema.bind("train.batch", c.batch, "samples a step");
  schema.bind("train.seed", c.seed, "of weights and shuffling");
  schema.bind("train.clip", c.clip, "largest gradient norm, 0 for none");
  schema.bind("train.gradient_weight", c.gradient_weight, "weight of the gradient term of the loss, uniform grids only");
  schema.bind("train.rollout", c.rollout, "autoregressive: steps rolled out in training; 1 is teacher forcing");
  schema.bind("train.frames", c.frames, "time-dependent sets: learn from so many first frames, 0 for all");
  schema.bind<Engine>("train.engine", c.engine, {{"fused", Engine::fused}, {"composite", Engine::composite}},
                            "fused kernels, or plain LibTorch calls: the reference");
  schema.bind<Selection>("train.selection", c.selection, {{"best", Selection::best}, {"last", Selection::last}},
                         "weights kept: best on validation, or the last");
  schema.bind<ScheduleKind>("schedule.kind", c.schedule.kind,
                            {{"one_cycle", ScheduleKind::one_cycle},
                             {"cosine", ScheduleKind::cosine},
                             {"constant", ScheduleKind::constant}},
                            "course of the learning rate");
  schema.bind("schedule.learning_rate", c.schedule.learning_rate, "the peak rate");
  schema.bind("schedule.pct_start", c.schedule.pct_start, "share of the steps in which OneCycle rises");
  schema.bind("schedule.div_factor", c.schedule.div_factor, "OneCycle: peak over first rate");
  schema.bind("schedule.final_div_factor", c.schedule.final_div_factor, "OneCycle: first over last rate");
  schema.bind("optimiser.weight_decay", c.optimiser.weight_decay, "of AdamW");
  schema.bind("optimiser.beta2", c.optimiser.beta2, "of AdamW");
  schema.bind("optimiser.epsilon", c.optimiser.epsilon, "of AdamW");
  const std::vector<std::pair<std::string, Scaling>> scaling{{"channel", Scaling::channel}, {"none", Scaling::none}};
  schema.bind<Scaling>("normalise.coordinates", c.coordinates, scaling, "zero mean and unit deviation, or as they are");
  schema.bind<Scaling>("normalise.input", c.input, scaling, "zero mean and unit deviation, or as they are");
  schema.bind<Scaling>("normalise.output", c.output, scaling, "zero mean and unit deviation, or as they are");
}

std::string to_toml(TrainConfig config) {
  Schema schema;
  bind_train_config(schema, config);
  return schema.to_toml();
}

void check_train_config(const TrainConfig& c) {
  const auto require = [](bool good, const char* expected, auto found) {
    if (!good) fail_usage("reading the training config", expected, fmt::format("{}", found));
  };
  require(!c.data.empty(), "a dataset: --data FILE or data.file", "none");
  require(c.epochs >= 1, "train.epochs of at least 1", c.epochs);
  require(c.batch >= 1, "train.batch of at least 1", c.batch);
  require(c.seed >= 0, "train.seed of at least 0", c.seed);
  require(c.clip >= 0, "train.clip of at least 0", c.clip);
  require(c.gradient_weight >= 0, "train.gradient_weight of at least 0", c.gradient_weight);
  require(c.rollout >= 1, "train.rollout of at least 1", c.rollout);
  require(c.frames >= 0, "train.frames of at least 0", c.frames);
  require(c.schedule.learning_rate > 0, "schedule.learning_rate above 0", c.schedule.learning_rate);
  require(c.schedule.pct_start >= 0 && c.schedule.pct_start < 1, "schedule.pct_start in [0, 1)", c.schedule.pct_start);
  require(c.schedule.div_factor > 0, "schedule.div_factor above 0", c.schedule.div_factor);
  require(c.schedule.final_div_factor > 0, "schedule.final_div_factor above 0", c.schedule.final_div_factor);
  require(c.optimiser.weight_decay >= 0, "optimiser.weight_decay of at least 0", c.optimiser.weight_decay);
  require(c.optimiser.beta2 > 0 && c.optimiser.beta2 < 1, "optimiser.beta2 in (0, 1)", c.optimiser.beta2);
  check_lano_config(c.lano);
}

}  // namespace lano
