// A model of LibTorch in training: autograd behind the interface of train/trainable.h. Parameters and gradients are
// flat buffers of plain memory; on the CPU the model's tensors are views of them, on another device copies.
#pragma once

#include <memory>

#include "libtorch/flat_parameters.h"
#include "libtorch/operator_model.h"
#include "libtorch/torch_loss.h"
#include "train/trainable.h"

namespace lano {

class TorchTrainable : public Trainable {
 public:
  // mirrored: the model's tensors are copies of the flat buffers even on the CPU, as on another device; for tests.
  TorchTrainable(const nlohmann::json& architecture, const TrainConfig& config, const Objective& objective,
                 torch::Device device, bool mirrored = false);

  nlohmann::json architecture() const override { return model_->architecture(); }
  std::vector<double> order_box() const override { return model_->order_box(); }
  std::int64_t use_agents(std::int64_t agents) override { return model_->use_agents(agents); }
  std::int64_t parameter_count() const override { return lano::parameter_count(*model_); }
  const std::vector<NamedShape>& layout() const override { return flat_.layout(); }
  std::span<float> values() override { return flat_.values(); }
  std::span<float> gradients() override { return flat_.gradients(); }
  double learn(const Lesson& lesson) override;
  std::unique_ptr<Predictor> predictor(const ModelFile& about) override;
  std::vector<float> buffers() const override { return copy_buffers(*model_); }
  void load_buffers(std::span<const float> flat, std::string_view doing) override;
  void load_buffers(const std::map<std::string, Tensor>& named, std::string_view doing) override;
  std::map<std::string, Tensor> name_buffers(std::span<const float> flat) const override;

  OperatorModel& model() { return *model_; }

 private:
  torch::Tensor loss(const Lesson& lesson);

  std::shared_ptr<OperatorModel> model_;
  TrainConfig config_;
  ChannelMap output_;
  std::vector<double> increment_;
  TorchLoss loss_;
  torch::Device device_;
  FlatParameters flat_;
};

// Makes the models of LibTorch known to train() and to load_model(). Called once, by programs that link it.
void register_torch_models();

}  // namespace lano
