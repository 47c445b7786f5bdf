// F-FNO, the factorised Fourier neural operator (Tran et al., ICLR 2023): transforms along one axis at a time instead
// of all at once. Layer:
//   f <- f + sum_a F_a^-1( R_a,k F_a f )   R_a,k: C -> C complex for k = 0 .. m-1 along axis a
// so weights grow with axes * m instead of m^axes. As in the public library the baselines follow, the feed-forward
// network the paper puts after the sum is left out. Cost O(axes N (C log N + C^2 m/n)).
#include <algorithm>
#include <string>
#include <vector>

#include "libtorch/baselines.h"
#include "libtorch/spectral_baseline.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class FactorisedConvolution : public nn::Module {
 public:
  FactorisedConvolution(std::int64_t channels, std::int64_t axes, std::int64_t modes) : modes_(modes) {
    for (std::int64_t a = 0; a < axes; ++a) {
      // Pairs too, but its authors hold and count them as real numbers: hence the name (libtorch/operator_model.h).
      const torch::Tensor pairs = torch::empty({channels, channels, modes, 2});  // CPU: moved with the model
      nn::init::xavier_normal_(pairs);
      weights_.push_back(register_parameter("pairs" + std::to_string(a), pairs));
    }
  }

  torch::Tensor forward(const torch::Tensor& image) {
    torch::Tensor sum;
    for (std::size_t a = 0; a < weights_.size(); ++a) {
      const auto axis = static_cast<std::int64_t>(a) + 2;
      const torch::Tensor spectrum = torch::fft::rfft(image, c10::nullopt, axis).movedim(axis, -1);
      const std::int64_t kept = std::min(modes_, spectrum.size(-1));
      const torch::Tensor low = torch::einsum(
          "bi...k,iok->bo...k", {spectrum.narrow(-1, 0, kept), as_complex(weights_[a]).narrow(2, 0, kept)});
      // irfft fills the frequencies that are left out with zeros.
      const torch::Tensor back = torch::fft::irfft(low, image.size(axis), -1).movedim(-1, axis);
      sum = sum.defined() ? sum + back : back;
    }
    return sum;
  }

 private:
  std::int64_t modes_;
  std::vector<torch::Tensor> weights_;
};

class FactorisedFno : public SpectralBaseline {
 public:
  FactorisedFno(const BaselineConfig& config, const LanoShape& shape)
      : SpectralBaseline(config, shape, Project::clouds, config.width, config.width) {
    nn::ModuleList layers;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      layers_.push_back(std::make_shared<FactorisedConvolution>(config.width, axes(), config.modes));
      layers->push_back(layers_.back());
    }
    register_module("layers", layers);
  }

 private:
  torch::Tensor transform(const torch::Tensor& image) override {
    torch::Tensor f = image;
    for (const auto& layer : layers_) f = f + layer->forward(f);
    return f;
  }

  std::vector<std::shared_ptr<FactorisedConvolution>> layers_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_f_fno(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<FactorisedFno>(config, shape);
}

}  // namespace lano
