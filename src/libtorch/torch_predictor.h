// A model of LibTorch in use on physical data: the predictor of the operators of the comparison, and of LANO by the
// composite engine.
#pragma once

#include <filesystem>
#include <memory>

#include "evaluate/predictor.h"
#include "libtorch/operator_model.h"

namespace lano {

class TorchPredictor : public Predictor {
 public:
  // about: a model file, whose weights are not looked at.
  TorchPredictor(ModelFile about, std::shared_ptr<OperatorModel> model, torch::Device device);

  Task task() const override;
  std::int64_t state_frames() const override { return state_frames_; }
  std::int64_t use_agents(std::int64_t agents) override { return model_->use_agents(agents); }
  const std::vector<double>& channel_times() const override { return about_.set.channel_times; }
  OperatorModel& model() { return *model_; }

 protected:
  // Queries of one size on one mesh go through the model together, up to eight of them.
  void apply(std::span<const Operator::Query> queries) override;

 private:
  struct Prepared;
  Prepared prepare(const Operator::Query& query) const;
  std::span<const float> frame_of(const Operator::Query& query, std::int64_t frame) const;
  void apply_batch(std::span<const Operator::Query> queries, std::span<const Prepared> prepared);

  ModelFile about_;
  std::shared_ptr<OperatorModel> model_;
  torch::Device device_;
  std::int64_t state_frames_ = 0;
};

// Refuses a file whose architecture is larger than its tensors before it takes the memory.
std::unique_ptr<TorchPredictor> load_torch_predictor(ModelFile file, const std::string& doing, torch::Device device);
std::unique_ptr<TorchPredictor> load_torch_predictor(const std::filesystem::path& path);

}  // namespace lano
