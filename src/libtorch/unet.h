// A U-net of five scales on images of one, two or three axes, in pieces: U-FNO takes it whole, U-NO and LSM put their
// own layers between the scales. Scale s has n/2^s points per axis (n a multiple of 16) and C 2^s channels, the
// coarsest 8C.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "model_spec/baseline_config.h"

namespace lano {

enum class ImageNorm { batch, instance };

// Steady problems by the statistics of the batch; in time, where they drift, by those of each sample: as the public
// library does.
ImageNorm image_norm(Task task);

// Mean 0 and variance 1 of each channel, over batch and points (running values in evaluation) or over the points, then
// a learned scale and shift. With one value per channel there is no variance: batches take the running values, samples
// stay as they are.
class ChannelNorm : public torch::nn::Module {
 public:
  ChannelNorm(std::int64_t channels, ImageNorm kind);
  torch::Tensor forward(const torch::Tensor& image);

 private:
  torch::Tensor weight_, bias_, mean_, variance_;
};

// Twice: a convolution of 3 points per axis, a norm, ReLU; in -> middle -> out channels.
class DoubleConvolution : public torch::nn::Module {
 public:
  DoubleConvolution(std::int64_t axes, std::int64_t in, std::int64_t middle, std::int64_t out, ImageNorm norm);
  torch::Tensor forward(const torch::Tensor& image);

 private:
  torch::nn::AnyModule conv1_, conv2_;
  std::shared_ptr<ChannelNorm> norm1_, norm2_;
};

class UNet : public torch::nn::Module {
 public:
  static constexpr int kScales = 5;
  UNet(std::int64_t axes, std::int64_t channels, ImageNorm norm);

  torch::Tensor forward(const torch::Tensor& image);  // [B,C,n1,...] -> the same shape

  torch::Tensor down(int scale, const torch::Tensor& image);  // to `scale`; from the image itself to scale 0
  torch::Tensor up(int scale, const torch::Tensor& image,
                   const torch::Tensor& skip);  // from scale + 1 to `scale`, joined with its own `skip`
  torch::Tensor last(const torch::Tensor& image) { return last_.forward(image); }

  std::int64_t down_channels(int scale) const { return channels_ << (scale < 4 ? scale : 3); }
  std::int64_t up_channels(int scale) const { return scale == 0 ? channels_ : channels_ << (scale - 1); }

 private:
  std::int64_t axes_, channels_;
  std::vector<std::shared_ptr<DoubleConvolution>> down_, up_;
  torch::nn::AnyModule last_;
};

}  // namespace lano
