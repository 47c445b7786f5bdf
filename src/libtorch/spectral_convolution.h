// The convolution of Fourier neural operators: a linear map of the channels for each of the lowest frequencies. Shared
// by the spectral baselines, and by the projection of clouds to a grid. Images are [B,C,n1,...] with one, two or three
// axes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace lano {

// A grid with too few points for the modes: it keeps the weights of the frequencies it has, or (multiwavelets) the
// first entries of them.
enum class CoarseGrid { same_frequencies, same_entries };

class SpectralConvolution : public torch::nn::Module {
 public:
  SpectralConvolution(std::int64_t in, std::int64_t out, std::int64_t axes, std::int64_t modes,
                      CoarseGrid coarse = CoarseGrid::same_frequencies);

  torch::Tensor forward(const torch::Tensor& image);  // [B,in,n1,...] -> [B,out,n1,...]
  // Weights times coefficients in the order of a real FFT, the last axis halved: [B,in,r1,...,c] -> [B,out,r1,...,c],
  // zero beyond the modes.
  torch::Tensor mix(const torch::Tensor& spectrum);

 private:
  std::int64_t out_, axes_, modes_;
  CoarseGrid coarse_;
  std::vector<torch::Tensor> weights_;  // one for each choice of sign along all axes but the last
};

// The layer of an FNO without its activation: a spectral convolution, plus a pointwise linear map.
class FourierLayer : public torch::nn::Module {
 public:
  FourierLayer(std::int64_t channels, std::int64_t axes, std::int64_t modes);
  torch::Tensor forward(const torch::Tensor& image);

 private:
  std::shared_ptr<SpectralConvolution> spectral_;
  torch::nn::AnyModule local_;
};

// Pairs along a last axis as complex numbers.
torch::Tensor as_complex(const torch::Tensor& pairs);

}  // namespace lano
