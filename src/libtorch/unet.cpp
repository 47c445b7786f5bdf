// Down: the larger of neighbours (2 per axis), then a double convolution. Up: linear interpolation with both ends kept,
// the skip put before it, then a double convolution. Cost O(N C^2): each scale has half the points per axis and twice
// the channels (Ronneberger et al., 2015).
#include "libtorch/unet.h"

#include <string>

#include "libtorch/images.h"

namespace lano {

namespace nn = torch::nn;

namespace {

constexpr double kEpsilon = 1e-5, kMomentum = 0.1;

torch::Tensor halved(const torch::Tensor& image) {
  switch (image.dim()) {
    case 3:
      return torch::max_pool1d(image, 2);
    case 4:
      return torch::max_pool2d(image, 2);
    default:
      return torch::max_pool3d(image, 2);
  }
}

torch::Tensor interpolated(const torch::Tensor& image, at::IntArrayRef sizes) {
  switch (image.dim()) {
    case 3:
      return torch::upsample_linear1d(image, sizes, /*align_corners=*/true);
    case 4:
      return torch::upsample_bilinear2d(image, sizes, /*align_corners=*/true);
    default:
      return torch::upsample_trilinear3d(image, sizes, /*align_corners=*/true);
  }
}

}  // namespace

ImageNorm image_norm(Task task) { return task == Task::steady ? ImageNorm::batch : ImageNorm::instance; }

ChannelNorm::ChannelNorm(std::int64_t channels, ImageNorm kind) {
  weight_ = register_parameter("weight", torch::ones({channels}));
  bias_ = register_parameter("bias", torch::zeros({channels}));
  if (kind == ImageNorm::batch) {
    mean_ = register_buffer("mean", torch::zeros({channels}));
    variance_ = register_buffer("variance", torch::ones({channels}));
  }
}

torch::Tensor ChannelNorm::forward(const torch::Tensor& image) {
  const std::int64_t values = image.numel() / image.size(1);
  if (mean_.defined())
    return torch::batch_norm(image, weight_, bias_, mean_, variance_, is_training() && values > 1, kMomentum, kEpsilon,
                             false);
  if (values > image.size(0))
    return torch::instance_norm(image, weight_, bias_, {}, {}, true, kMomentum, kEpsilon, false);
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(image.dim()), 1);
  sizes[1] = -1;
  return image * weight_.view(sizes) + bias_.view(sizes);
}

DoubleConvolution::DoubleConvolution(std::int64_t axes, std::int64_t in, std::int64_t middle, std::int64_t out,
                                     ImageNorm norm) {
  conv1_ = register_convolution(*this, "conv1", axes, in, middle, 3, /*bias=*/false);
  norm1_ = register_module("norm1", std::make_shared<ChannelNorm>(middle, norm));
  conv2_ = register_convolution(*this, "conv2", axes, middle, out, 3, /*bias=*/false);
  norm2_ = register_module("norm2", std::make_shared<ChannelNorm>(out, norm));
}

torch::Tensor DoubleConvolution::forward(const torch::Tensor& image) {
  const torch::Tensor h = torch::relu(norm1_->forward(conv1_.forward(image)));
  return torch::relu(norm2_->forward(conv2_.forward(h)));
}

UNet::UNet(std::int64_t axes, std::int64_t channels, ImageNorm norm) : axes_(axes), channels_(channels) {
  for (int s = 0; s < kScales; ++s) {
    const std::int64_t out = down_channels(s), in = s == 0 ? channels : down_channels(s - 1);
    down_.push_back(
        register_module("down" + std::to_string(s), std::make_shared<DoubleConvolution>(axes, in, out, out, norm)));
  }
  for (int s = 0; s + 1 < kScales; ++s) {
    const std::int64_t skip = down_channels(s);  // as many come from below
    up_.push_back(register_module("up" + std::to_string(s),
                                  std::make_shared<DoubleConvolution>(axes, 2 * skip, skip, up_channels(s), norm)));
  }
  last_ = register_convolution(*this, "last", axes, channels, channels, 1);
}

torch::Tensor UNet::down(int scale, const torch::Tensor& image) {
  return down_[static_cast<std::size_t>(scale)]->forward(scale == 0 ? image : halved(image));
}

torch::Tensor UNet::up(int scale, const torch::Tensor& image, const torch::Tensor& skip) {
  return up_[static_cast<std::size_t>(scale)]->forward(
      torch::cat({skip, interpolated(image, skip.sizes().slice(2))}, 1));
}

torch::Tensor UNet::forward(const torch::Tensor& image) {
  std::vector<torch::Tensor> scales;
  for (int s = 0; s < kScales; ++s) scales.push_back(down(s, s == 0 ? image : scales.back()));
  torch::Tensor f = scales.back();
  for (int s = kScales - 2; s >= 0; --s) f = up(s, f, scales[static_cast<std::size_t>(s)]);
  return last(f);
}

}  // namespace lano
