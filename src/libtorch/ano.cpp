// ANO, the averaging neural operator (Lanthaler, Li, Stuart 2025), to whose layer LANO's reduces when its feature maps
// are constant (the test Theory.ConstantFeatureMapsGiveTheMean shows that):
//   v_{l+1}(x) = gelu( W v_l(x) + b + mean over the domain of v_l )
// between the usual encoder and a linear decoder. The mean is over the points, so a Monte-Carlo sum of the integral.
// Cost O(NC^2), the maps alone.
#include <vector>

#include "libtorch/baseline.h"
#include "libtorch/baselines.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class AveragingOperator : public Baseline {
 public:
  AveragingOperator(const BaselineConfig& config, const LanoShape& shape) : Baseline(config, shape) {
    register_encoder(/*placeholder=*/false);
    nn::ModuleList layers;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      layers_.emplace_back(config.width, config.width);
      // There is no residual path: W must carry a point's own signal. Of N(0, 0.02) 23 % would be left a layer.
      nn::init::kaiming_normal_(layers_.back()->weight);
      nn::init::zeros_(layers_.back()->bias);
      layers->push_back(layers_.back());
    }
    register_module("layers", layers);
    decoder_ = register_module("decoder", nn::Linear(config.width, shape.output_channels));
  }

 private:
  torch::Tensor apply(const Points& points) override {
    torch::Tensor v = encode(points);
    for (nn::Linear& layer : layers_)
      v = torch::dropout(torch::gelu(layer(v) + v.mean(1, true)), config_.dropout, is_training());
    return decoder_(v);
  }

  std::vector<nn::Linear> layers_;
  nn::Linear decoder_{nullptr};
};

}  // namespace

std::shared_ptr<OperatorModel> make_ano(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<AveragingOperator>(config, shape);
}

}  // namespace lano
