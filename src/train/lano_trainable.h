// A LANO in training on plain memory: the fused kernels forward and backward, the loss, the time embedding and
// roll-outs with gradients through all their steps. No thread count changes a bit.
#pragma once

#include "kernels/geometry_cache.h"
#include "runtime/lano_tensors.h"
#include "runtime/position_features.h"
#include "train/field_loss.h"
#include "train/trainable.h"

namespace lano {

class LanoTrainable : public Trainable {
 public:
  LanoTrainable(const nlohmann::json& architecture, const TrainConfig& config, const Objective& objective);

  nlohmann::json architecture() const override;
  std::vector<double> order_box() const override { return shape_.order_box; }
  std::int64_t use_agents(std::int64_t agents) override;
  std::int64_t parameter_count() const override { return static_cast<std::int64_t>(values_.size()); }
  const std::vector<NamedShape>& layout() const override { return layout_; }
  std::span<float> values() override { return values_; }
  std::span<float> gradients() override { return gradients_; }
  double learn(const Lesson& lesson) override;
  void learn_samples(const Lesson& lesson, SampleLessons& each) override;
  std::unique_ptr<Predictor> predictor(const ModelFile& about) override;

  // One pass of the network, for tests and measurements: network values [P, du] of normalised fields; state [P, du] (K
  // of them) normalised, for autoregressive models. With `slopes` [P, du] the gradients of sum(slopes * output) are
  // written, and on request those of the features: [P, positions + da (+ K du)].
  std::vector<float> pass(const FieldBatch& batch, std::span<const float> state, std::span<const float> slopes,
                          std::vector<float>* feature_slopes = nullptr);

 private:
  // Of each sample: where its points lie, and for clouds which are neighbours.
  struct Places {
    std::vector<std::shared_ptr<const kernels::Geometry>> geometries;
    std::vector<std::shared_ptr<const kernels::Neighbours>> neighbours;
    std::vector<kernels::Sample> samples() const;
  };
  struct Pass;
  struct TimeFeatures;

  Places places_of(const FieldBatch& batch);
  std::vector<float> features_of(const FieldBatch& batch);  // state columns are left 0
  // frame: of the state, 0 the oldest; values [P, du], normalised
  void fill_state(std::vector<float>& features, std::int64_t frame, std::span<const float> values) const;
  void position_columns(const FieldBatch& batch, std::int64_t stride, std::vector<float>& features);
  std::int64_t state_frames() const { return config_.task == Task::autoregressive ? config_.state_frames : 0; }
  std::int64_t state_channels() const { return state_frames() * shape_.output_channels; }
  LanoGradients gradients_at(float* flat) const;
  // Writes the gradients of each sample to `rows` [samples, parameters], or where there is room for one row only their
  // sum in order (not of a roll-out); returns the loss of each sample.
  std::vector<double> go_through(const Lesson& lesson, std::vector<float>& rows);
  void time_gradients(const TimeFeatures& time, std::span<const LanoGradients> to) const;

  LanoConfig config_;
  LanoShape shape_;
  kernels::NetworkShape network_;
  std::uint64_t seed_;
  std::int64_t rollout_;
  ChannelMap output_;
  std::vector<double> increment_;
  FieldLoss loss_;
  std::vector<NamedShape> layout_;
  std::vector<float> values_, gradients_, more_;  // more: the gradients of a further pass, to be added
  LanoWeights weights_;                           // into values_
  kernels::GeometryCache geometries_;
  std::vector<std::int64_t> patches_;  // agents used
  PositionFeatures positions_;
  std::vector<float> seen_coordinates_, seen_positions_;  // of the last batch on one mesh: its features are kept
};

}  // namespace lano
