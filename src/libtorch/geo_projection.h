// From points anywhere in the plane to a regular latent grid and back, as geo-FNO does it: the points move by a learned
// deformation, and Fourier transforms between them and the grid are taken at the places they have reached. Every
// spectral baseline sees clouds through it.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>

#include "libtorch/spectral_convolution.h"

namespace lano {

class GeoProjection : public torch::nn::Module {
 public:
  GeoProjection(std::int64_t channels, std::int64_t modes);

  // cos and sin of 2 pi <k, phi(x)> for the kept frequencies k, and the same for the way back: [B,N,2m*m] each.
  struct Waves {
    torch::Tensor cosine, sine, back_cosine, back_sine;
  };
  Waves waves(const torch::Tensor& coordinates);  // [B,N,2], in the unit box: the torus has length 1

  torch::Tensor to_grid(const torch::Tensor& fields, const Waves& waves,
                        std::int64_t side);                                 // [B,N,C] -> [B,C,side,side], side >= 2m
  torch::Tensor to_points(const torch::Tensor& image, const Waves& waves);  // [B,C,side,side] -> [B,N,C]

 private:
  class Deformation;
  std::int64_t modes_;
  std::shared_ptr<Deformation> deformation_;
  std::shared_ptr<SpectralConvolution> in_, out_;
};

}  // namespace lano
