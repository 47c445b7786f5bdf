// A model in training, as the learner sees it: one flat buffer of parameters, one of gradients, a loss with its
// gradient, and a predictor with the current weights. A LANO is one on plain memory (train/lano_trainable.h); a program
// that links LibTorch adds the others.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "data/sample_set.h"
#include "evaluate/predictor.h"
#include "runtime/model_file.h"
#include "train/config.h"
#include "train/optimiser.h"

namespace lano {

// What is to be learned, besides the recipe: what the data determine.
struct Objective {
  ChannelMap output;  // from network values to physical ones
  Shape mesh;         // of the gradient term
  std::vector<double> spacing;
  std::vector<double> increment = {};  // Normaliser::increment
  std::vector<float> base = {};        // Normaliser::mean_output: [N, du]
};

// One batch of a step.
struct Lesson {
  FieldBatch batch;
  std::vector<std::vector<float>> truth;     // [P, du] physical; autoregressive: the frames of the state, one per step
  std::vector<std::vector<double>> weights;  // of each sample in each frame of the loss; empty: 1
  double share = 1;                          // of this batch in the loss of the step
  std::int64_t of = 0;                       // samples of the batch, of which this lesson has some; 0: it has all
  bool first = true;                         // of the step: gradients are written, else added to
  std::uint64_t step = 0, place = 0;         // steps done before; the batch's first sample within the step
};

// What each sample of a lesson contributes.
struct SampleLessons {
  std::vector<double> losses;
  std::vector<float> gradients;  // [samples, parameters]
};

class Trainable {
 public:
  virtual ~Trainable() = default;
  virtual nlohmann::json architecture() const = 0;            // what a model file says of it
  virtual std::vector<double> order_box() const = 0;          // of the curve its clouds are ordered by; empty: none
  virtual std::int64_t use_agents(std::int64_t agents) = 0;   // fails where it has none to choose
  virtual std::int64_t parameter_count() const = 0;           // as papers count: a complex number is one
  virtual const std::vector<NamedShape>& layout() const = 0;  // of the flat buffers, in order
  virtual std::span<float> values() = 0;
  virtual std::span<float> gradients() = 0;
  // The loss of a lesson (without its share); the gradients grow by share times its own.
  virtual double learn(const Lesson& lesson) = 0;
  // The same, sample by sample, for ranks that share a batch: the gradients added up in order are those of learn() to
  // the bit, and the mean of the losses is its loss. Fails where a model cannot tell its samples apart.
  virtual void learn_samples(const Lesson& lesson, SampleLessons& each);
  // With the current weights; `about` is a model file without weights. Not during learn().
  virtual std::unique_ptr<Predictor> predictor(const ModelFile& about) = 0;

  // Running statistics: written by learn(), touched by no gradient, decay or running mean of the weights.
  virtual std::vector<float> buffers() const { return {}; }
  virtual void load_buffers(std::span<const float> flat, std::string_view doing);
  virtual void load_buffers(const std::map<std::string, Tensor>& named, std::string_view doing);
  virtual std::map<std::string, Tensor> name_buffers(std::span<const float> flat) const;
};

// A flat buffer of the layout as tensors by name.
std::map<std::string, Tensor> name_tensors(const std::vector<NamedShape>& layout, std::span<const float> flat);

using MakeTrainable =
    std::function<std::unique_ptr<Trainable>(const nlohmann::json& architecture, const TrainConfig&, const Objective&)>;

// What makes the models that need LibTorch: other operators, and LANO by the composite engine. Set once, at the start
// of a program that links it.
void set_torch_trainables(MakeTrainable make);

bool needs_torch(const TrainConfig& config);
// Fails if this program cannot train the recipe's model.
std::unique_ptr<Trainable> make_trainable(const nlohmann::json& architecture, const TrainConfig& config,
                                          const Objective& objective);

}  // namespace lano
