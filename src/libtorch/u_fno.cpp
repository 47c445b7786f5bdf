// U-FNO (Wen et al., Advances in Water Resources 2022): an FNO whose last two of four layers have a U-net in parallel
// to the spectral convolution,
//   f <- gelu( F^-1( R F f ) + W f + U f )
// for the fine scales a truncated spectrum cannot carry; the last one without activation. Cost O(N (C log N + C^2)).
#include <vector>

#include "libtorch/baselines.h"
#include "libtorch/fno.h"
#include "libtorch/unet.h"

namespace lano {
namespace {

constexpr int kPlainLayers = 2;

class UFno : public SpectralBaseline {
 public:
  UFno(const BaselineConfig& config, const LanoShape& shape)
      : SpectralBaseline(config, shape, Project::clouds, config.width, config.width) {
    torch::nn::ModuleList layers, unets;
    for (int l = 0; l < kFourierLayers; ++l) {
      layers_.push_back(std::make_shared<FourierLayer>(config.width, axes(), config.modes));
      layers->push_back(layers_.back());
    }
    for (int l = kPlainLayers; l < kFourierLayers; ++l) {
      unets_.push_back(std::make_shared<UNet>(axes(), config.width, image_norm(config.task)));
      unets->push_back(unets_.back());
    }
    register_module("layers", layers);
    register_module("unets", unets);
  }

 private:
  torch::Tensor transform(const torch::Tensor& image) override {
    torch::Tensor f = image;
    for (int l = 0; l < kFourierLayers; ++l) {
      torch::Tensor next = layers_[static_cast<std::size_t>(l)]->forward(f);
      if (l >= kPlainLayers) next = next + unets_[static_cast<std::size_t>(l - kPlainLayers)]->forward(f);
      f = l + 1 < kFourierLayers ? torch::gelu(next) : next;
    }
    return f;
  }

  std::vector<std::shared_ptr<FourierLayer>> layers_;
  std::vector<std::shared_ptr<UNet>> unets_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_u_fno(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<UFno>(config, shape);
}

}  // namespace lano
