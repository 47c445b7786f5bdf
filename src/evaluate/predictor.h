// A trained operator as evaluation and prediction see it, whichever engine computes: the samples of a dataset in, their
// predicted frames out, in physical values. Frames, roll-outs and each sample's geometry are handled here, once; an
// engine answers single queries. The runtime's Operator is one by OperatorPredictor; models of LibTorch are others.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "data/dataset.h"
#include "runtime/operator.h"

namespace lano {

struct Prediction {
  std::int64_t frames = 1;
  std::vector<float> values;  // [S, frames, N, du], physical, samples one after the other as in Samples

  // [frames, N, channels] of sample i.
  std::span<const float> of(const Samples& samples, std::int64_t i, std::int64_t channels) const {
    const std::int64_t width = frames * channels;
    return std::span(values).subspan(static_cast<std::size_t>(samples.first_point(i) * width),
                                     static_cast<std::size_t>(samples.points_of(i) * width));
  }
};

class Predictor {
 public:
  virtual ~Predictor() = default;

  // Time-conditional models give every frame of the dataset; autoregressive ones start after the samples' first
  // frames, given_frames(set), which are kept, and step freely `steps` times (0: as many as the dataset has frames).
  Prediction predict(const SetDescription& set, const Samples& samples, std::int64_t steps = 0) {
    return predict(set, samples, steps, {});
  }
  // This rank's points of one sample of a mesh that is divided over several ranks; only their values are returned.
  Prediction predict(const SetDescription& set, const SampleSlab& part, std::int64_t steps = 0) {
    return predict(set, part.samples, steps, Operator::Call::Part{part.first, part.corners});
  }

  virtual Task task() const = 0;
  virtual std::int64_t state_frames() const = 0;  // autoregressive models: frames of their state; else 0
  // Of a model that gives all times of a dataset at once, as channels: those times. Its predictions are frames where
  // the dataset has these times.
  virtual const std::vector<double>& channel_times() const = 0;
  // Frames of a dataset's output that this model is given; they are not evaluated.
  std::int64_t given_frames(const SetDescription& set) const { return lano::given_frames(task(), state_frames(), set); }
  // Another number of agents than in training; returns the number used. Fails where the model has none to choose.
  virtual std::int64_t use_agents(std::int64_t agents) = 0;

 protected:
  // Answers all queries; autoregressive models give the next state. Queries may share nothing but the kind of data.
  virtual void apply(std::span<const Operator::Query> queries) = 0;

 private:
  Prediction predict(const SetDescription& set, const Samples& samples, std::int64_t steps,
                     const std::optional<Operator::Call::Part>& part);
};

class OperatorPredictor : public Predictor {
 public:
  explicit OperatorPredictor(Operator op) : op_(std::move(op)) {}
  Task task() const override { return op_.task(); }
  std::int64_t state_frames() const override { return op_.state_frames(); }
  std::int64_t use_agents(std::int64_t agents) override { return op_.use_agents(agents); }
  const std::vector<double>& channel_times() const override { return op_.set().channel_times; }

 protected:
  void apply(std::span<const Operator::Query> queries) override { op_.predict(queries); }

 private:
  Operator op_;
};

}  // namespace lano
