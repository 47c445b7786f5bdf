// The base of every operator LANO is compared with. It turns a batch into position, input and time features, takes
// clouds of different sizes one at a time, and knows the architecture's JSON; a model adds what happens between them
// and the output. Plain LibTorch.
#pragma once

#include <string>

#include "libtorch/operator_model.h"
#include "model_spec/baseline_config.h"

namespace lano {

// Samples of one size as a model sees them.
struct Points {
  torch::Tensor coordinates;  // [B,N,dx], normalised
  torch::Tensor position;     // [B,N,dp]: the coordinates, or distances to the reference grid
  torch::Tensor input;        // [B,N,da]; da may be 0; autoregressive: the state is its last channels
  torch::Tensor time;         // [B,1,features] embedded, undefined where the model does not know time
  Shape mesh;                 // axes of the grid or mesh; empty for clouds
};

// "a point cloud", "a grid or mesh of 2 axes": for errors of models that do not take every geometry.
std::string axes_text(std::int64_t axes);

class Baseline : public OperatorModel {
 public:
  torch::Tensor forward(const Batch& batch) final;
  nlohmann::json architecture() const final { return to_json(config_, shape_); }

 protected:
  // `features`: channels that encode() gives and the embedded time has; 0 for the width.
  Baseline(const BaselineConfig& config, const LanoShape& shape, std::int64_t features = 0);
  virtual torch::Tensor apply(const Points& points) = 0;  // -> [B,N,du]

  // Registers the usual encoder "encoder1", "encoder2": [position, input] -> 2C -> features, exact GELU; `placeholder`:
  // a learned vector is added.
  void register_encoder(bool placeholder);
  torch::Tensor encode(const Points& points);  // [B,N,features], the embedded time added where there is one

  // Behind the registration of all modules: weights of linear maps from N(0, 0.02), their biases 0, norms 1 and 0, as
  // transformers start.
  void initialise_as_transformer();

  std::int64_t position_channels() const;
  const BaselineConfig config_;
  const LanoShape shape_;
  const std::int64_t features_;

 private:
  torch::Tensor apply_all(const Batch& batch, const torch::Tensor& coordinates, const torch::Tensor& input,
                          const torch::Tensor& time);

  torch::nn::Linear encoder1_{nullptr}, encoder2_{nullptr}, time1_{nullptr}, time2_{nullptr};
  torch::Tensor placeholder_;
};

}  // namespace lano
