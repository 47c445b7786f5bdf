// U-NO, the U-shaped neural operator (Rahman et al., TMLR 2023): a U-net with a Fourier layer at each scale, on the way
// down and on the way up,
//   f_s <- gelu( F^-1( R F f_s ) + D f_s )
// where D is a double convolution through one channel (what the public library has in the place of the pointwise map).
// Scale s = 0..4 keeps min(m, n/2^(s+1)) modes, n the shortest axis in training. Five scales as published, whatever
// model.layers is. Cost O(N (C log N + C^2)).
#include <algorithm>
#include <string>
#include <vector>

#include "libtorch/baselines.h"
#include "libtorch/spectral_baseline.h"
#include "libtorch/unet.h"

namespace lano {
namespace {

class SpectralScale : public torch::nn::Module {
 public:
  SpectralScale(std::int64_t axes, std::int64_t channels, std::int64_t modes, ImageNorm norm) {
    spectral_ = register_module("spectral", std::make_shared<SpectralConvolution>(channels, channels, axes, modes));
    local_ = register_module("local", std::make_shared<DoubleConvolution>(axes, channels, 1, channels, norm));
  }

  torch::Tensor forward(const torch::Tensor& image) {
    return torch::gelu(spectral_->forward(image) + local_->forward(image));
  }

 private:
  std::shared_ptr<SpectralConvolution> spectral_;
  std::shared_ptr<DoubleConvolution> local_;
};

class UShapedOperator : public SpectralBaseline {
 public:
  UShapedOperator(const BaselineConfig& config, const LanoShape& shape)
      : SpectralBaseline(config, shape, Project::clouds, config.width, 2 * config.width) {
    const ImageNorm norm = image_norm(config.task);
    unet_ = register_module("unet", std::make_shared<UNet>(axes(), config.width, norm));
    const Shape sizes = image_shape(training_mesh());
    const std::int64_t shortest = *std::min_element(sizes.begin(), sizes.end());
    for (int s = 0; s < UNet::kScales; ++s) {
      const std::int64_t modes = std::clamp<std::int64_t>(shortest >> (s + 1), 1, config.modes);
      const std::int64_t above = s + 1 < UNet::kScales ? unet_->up_channels(s) : unet_->down_channels(s);
      down_.push_back(register_module("down" + std::to_string(s),
                                      std::make_shared<SpectralScale>(axes(), unet_->down_channels(s), modes, norm)));
      up_.push_back(
          register_module("up" + std::to_string(s), std::make_shared<SpectralScale>(axes(), above, modes, norm)));
    }
  }

 private:
  torch::Tensor transform(const torch::Tensor& image) override {
    std::vector<torch::Tensor> scales;
    for (int s = 0; s < UNet::kScales; ++s) {
      scales.push_back(down_[static_cast<std::size_t>(s)]->forward(unet_->down(s, s == 0 ? image : scales.back())));
    }
    torch::Tensor f = up_.back()->forward(scales.back());
    for (int s = UNet::kScales - 2; s >= 0; --s) {
      f = up_[static_cast<std::size_t>(s)]->forward(unet_->up(s, f, scales[static_cast<std::size_t>(s)]));
    }
    return unet_->last(f);
  }

  std::shared_ptr<UNet> unet_;
  std::vector<std::shared_ptr<SpectralScale>> down_, up_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_u_no(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<UShapedOperator>(config, shape);
}

}  // namespace lano
