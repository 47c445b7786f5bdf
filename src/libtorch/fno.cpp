// FNO, the Fourier neural operator (Li et al., ICLR 2021): four layers
//   f <- gelu( F^-1( R F f ) + W f )       R_k: C -> C complex for each of the lowest frequencies k, W: C -> C at each
//   point
// the last one without activation, between a pointwise encoder and a pointwise decoder. Zeros pad each axis to a
// multiple of 16 points; on clouds the image is that of geo-FNO's projection. Cost O(N (C log N + C^2)) and m^axes C^2
// weights per block.
#include "libtorch/fno.h"

#include "libtorch/baselines.h"

namespace lano {

Fno::Fno(const BaselineConfig& config, const LanoShape& shape, Project project)
    : SpectralBaseline(config, shape, project, config.width, config.width) {
  torch::nn::ModuleList layers;
  for (int l = 0; l < kFourierLayers; ++l) {
    layers_.push_back(std::make_shared<FourierLayer>(config.width, axes(), config.modes));
    layers->push_back(layers_.back());
  }
  register_module("layers", layers);
}

torch::Tensor Fno::transform(const torch::Tensor& image) {
  torch::Tensor f = layers_[0]->forward(image);
  for (int l = 1; l < kFourierLayers; ++l) f = layers_[static_cast<std::size_t>(l)]->forward(torch::gelu(f));
  return f;
}

std::shared_ptr<OperatorModel> make_fno(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<Fno>(config, shape, Project::clouds);
}

}  // namespace lano
