// The configuration of a training run: what `configs/<benchmark>/<preset>.toml` and `--set` can set.
#pragma once

#include <memory>
#include <string>

#include "core/config.h"
#include "model_spec/baseline_config.h"
#include "model_spec/lano_config.h"
#include "run/selection.h"
#include "train/loss_config.h"
#include "train/optimiser.h"
#include "train/schedule.h"

namespace lano {

struct MemoryDataset;  // data/dataset.h

enum class Scaling { channel, none, field };  // of a field by the normaliser; field: of the difference from its mean

enum class StartScaling { keep, refit };

// How a dataset with times is learned: frame by frame (model.task says how), or all frames at once, as channels.
enum class Times { frames, channels };

// Which splits of a dataset are learned from. Where validation is one of them, nothing is left to choose weights by.
enum class TrainOn { train, train_and_validation };
inline constexpr const char* kTrainAndValidation = "train+validation";

struct TrainConfig {
  std::string data;                             // dataset file
  std::shared_ptr<const MemoryDataset> arrays;  // in its place: `data` is then but a name; no key of a recipe
  TrainOn train_on = TrainOn::train;
  Times times = Times::frames;
  double memory_gb = 4;  // training splits larger than this are read ahead from the file
  std::string from;      // a model file whose weights training begins with; empty: drawn from the seed
  StartScaling from_normaliser = StartScaling::keep;
  std::string model = "lano";
  LanoConfig lano;          // its sizes are those of every model
  BaselineConfig baseline;  // what only other models have
  std::int64_t epochs = 500, batch = 4, seed = 0;
  std::int64_t accumulate = 1;     // batches whose gradients make one step
  std::int64_t epoch_samples = 0;  // samples per epoch, drawn at random each time; 0: all
  ScheduleConfig schedule;
  OptimiserConfig optimiser;
  double clip = 0.1;  // limit of the gradient norm, 0: none
  LossConfig loss;
  double ema = 0;             // decay of the running mean of the weights, which is validated too; 0: none
  std::int64_t patience = 0;  // epochs without a better validation error before stopping; 0: never
  std::int64_t points = 0;    // clouds: random points of each sample per step; 0: all
  double points_share = 1;    // of the steps that are made with train.points; the later ones see all points
  Augment augment = Augment::none;
  std::vector<double> agents_range;   // [least, most]: agents drawn at random each step; empty: model.agents always
  std::int64_t checkpoint_steps = 0;  // steps between checkpoints, 0: none; there is always one after each epoch
  double checkpoint_minutes = 10;     // minutes between checkpoints, 0: none
  std::int64_t rollout = 1;  // autoregressive: steps rolled out in training, with gradients; 1: teacher forcing
  bool increments = false;   // autoregressive: the network gives the change from frame to frame
  double noise = 0;          // autoregressive: of the state that a step starts from, relative to its size
  std::int64_t frames = 0;   // time-dependent datasets: number of first frames to learn from, 0: all
  Engine engine = Engine::fused;
  Selection selection = Selection::best;  // best by validation, or the last epoch's
  bool displacement = false;              // a mesh per sample: the displacement from the mean mesh becomes an input
  Scaling coordinates = Scaling::none, input = Scaling::channel, output = Scaling::channel;
};

void bind_train_config(Schema& schema, TrainConfig& config);
void check_train_config(const TrainConfig& config);
void check_data_file(const std::string& path);  // that there is a name, and one that a config can hold
std::string to_toml(TrainConfig config);        // every key with its value

}  // namespace lano
