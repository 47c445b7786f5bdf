// LSM, latent spectral models (Wu et al., ICML 2023): a U-net whose scales are joined through neural spectral blocks.
// The image of a scale is cut into 16/2^s patches per axis; in each, and in each head of width D, T learned tokens z
// read the P points, move along a basis, and are read back:
//   z <- z + softmax( z k^T ) v                              k, v linear in the points            [T,D]
//   z <- z + sum_j A_j sin(pi z j/M) + B_j cos(pi z j/M)     each channel separately, j = 0..M-1   [T,D]
//   f <- f + softmax( q z^T ) z                              q linear in the points               [P,D]
// Patches follow the resolution, so their share of the domain stays. Five scales as published, whatever model.layers
// is. Cost O(N (C^2 + T C)).
#include <cmath>
#include <string>
#include <vector>

#include "libtorch/baselines.h"
#include "libtorch/spectral_baseline.h"
#include "libtorch/unet.h"

namespace lano {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kPatches = 16;  // per axis, at the finest scale

// [B,C,n1,...] -> [B*patches,P,C] with k patches per axis.
torch::Tensor to_patches(const torch::Tensor& image, std::int64_t k) {
  torch::Tensor cut = image;
  std::vector<std::int64_t> order{0}, inner;
  for (std::int64_t a = 0; a + 2 < image.dim(); ++a) {
    cut = cut.unflatten(2 * a + 2, {k, -1});
    order.push_back(2 * a + 2);
    inner.push_back(2 * a + 3);
  }
  order.insert(order.end(), inner.begin(), inner.end());
  order.push_back(1);
  return cut.permute(order).flatten(0, image.dim() - 2).flatten(1, -2);
}

// And back, into the sizes of `like`.
torch::Tensor from_patches(const torch::Tensor& patches, std::int64_t k, const torch::Tensor& like) {
  const std::int64_t axes = like.dim() - 2;
  std::vector<std::int64_t> sizes{like.size(0)}, order{0, 2 * axes + 1};
  sizes.insert(sizes.end(), static_cast<std::size_t>(axes), k);
  for (std::int64_t a = 0; a < axes; ++a) {
    sizes.push_back(like.size(a + 2) / k);
    order.push_back(a + 1);
    order.push_back(axes + a + 1);
  }
  sizes.push_back(like.size(1));
  return patches.reshape(sizes).permute(order).reshape(like.sizes());
}

class NeuralSpectralBlock : public nn::Module {
 public:
  NeuralSpectralBlock(const BaselineConfig& config, std::int64_t channels)
      : heads_(config.heads), basis_(config.basis) {
    weights_ = register_parameter("weights", torch::rand({channels, 2 * basis_}) / static_cast<double>(channels));
    latent_ = register_parameter(
        "latent", torch::rand({heads_, config.tokens, channels / heads_}) / static_cast<double>(channels));
    key_value_ = register_module("key_value", nn::Linear(channels, 2 * channels));
    query_ = register_module("query", nn::Linear(channels, channels));
  }

  torch::Tensor forward(const torch::Tensor& points) {  // [B,P,C]
    const auto read = [](const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v) {
      return torch::matmul(torch::softmax(torch::matmul(q, k.transpose(2, 3)), -1), v);
    };
    const torch::Tensor both = key_value_(points).unflatten(2, {heads_, -1, 2}).transpose(1, 2);  // [B,H,P,D,2]
    torch::Tensor z = latent_ + read(latent_, both.select(-1, 0), both.select(-1, 1));            // [B,H,T,D]
    const torch::Tensor angles =
        z.unsqueeze(-1) * (torch::arange(basis_, z.options()) * (M_PI / static_cast<double>(basis_)));
    const torch::Tensor waves = torch::cat({angles.sin(), angles.cos()}, -1);  // [B,H,T,D,2M]
    z = z + (waves * weights_.unflatten(0, {heads_, 1, -1})).sum(-1);
    const torch::Tensor q = query_(points).unflatten(2, {heads_, -1}).transpose(1, 2);
    return points + read(q, z, z).transpose(1, 2).flatten(2);
  }

 private:
  std::int64_t heads_, basis_;
  torch::Tensor weights_, latent_;
  nn::Linear key_value_{nullptr}, query_{nullptr};
};

class LatentSpectralModel : public SpectralBaseline {
 public:
  LatentSpectralModel(const BaselineConfig& config, const LanoShape& shape)
      : SpectralBaseline(config, shape, Project::clouds, config.width, 2 * config.width) {
    unet_ = register_module("unet", std::make_shared<UNet>(axes(), config.width, image_norm(config.task)));
    for (int s = 0; s < UNet::kScales; ++s) {
      blocks_.push_back(register_module("block" + std::to_string(s),
                                        std::make_shared<NeuralSpectralBlock>(config, unet_->down_channels(s))));
    }
  }

 private:
  torch::Tensor transform(const torch::Tensor& image) override {
    std::vector<torch::Tensor> scales;
    for (int s = 0; s < UNet::kScales; ++s) scales.push_back(unet_->down(s, s == 0 ? image : scales.back()));
    torch::Tensor f = solved(UNet::kScales - 1, scales.back());
    for (int s = UNet::kScales - 2; s >= 0; --s) f = unet_->up(s, f, solved(s, scales[static_cast<std::size_t>(s)]));
    return unet_->last(f);
  }

  torch::Tensor solved(int scale, const torch::Tensor& image) {
    const std::int64_t k = kPatches >> scale;
    return from_patches(blocks_[static_cast<std::size_t>(scale)]->forward(to_patches(image, k)), k, image);
  }

  std::shared_ptr<UNet> unet_;
  std::vector<std::shared_ptr<NeuralSpectralBlock>> blocks_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_lsm(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<LatentSpectralModel>(config, shape);
}

}  // namespace lano
