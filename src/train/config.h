// The configuration of a training run: what `configs/<benchmark>/<preset>.toml` and `--set` may say.
#pragma once

#include <string>

#include "core/config.h"
#include "core/lano_config.h"
#include "train/adamw.h"
#include "train/schedule.h"

namespace lano {

enum class Selection { best, last };          // which weights become the model file
enum class Scaling { channel, none };         // of a field by the normaliser

struct TrainConfig {
  std::string data;                           // dataset file
  std::string model = "lano";
  LanoConfig lano;
  std::int64_t epochs = 500, batch = 4, seed = 0;
  ScheduleConfig schedule;
  AdamwConfig optimiser;
  double clip = 0.1;                          // limit of the gradient norm, 0: none
  double gradient_weight = 0;                 // weight of the gradient term of the loss; Darcy: 0.1
  std::int64_t rollout = 1;                   // autoregressive: steps rolled out in training, with gradients; 1: teacher forcing
  std::int64_t frames = 0;                    // time-dependent sets: learn from so many first frames, 0: all
  Engine engine = Engine::fused;
  Selection selection = Selection::best;      // best by validation, or the last epoch's
  Scaling coordinates = Scaling::none, input = Scaling::channel, output = Scaling::channel;
};

void bind_train_config(Schema& schema, TrainConfig& config);
void check_train_config(const TrainConfig& config);
std::string to_toml(TrainConfig config);  // every key with its value

}  // namespace lano
