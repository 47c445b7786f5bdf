// WMT, the multiwavelet operator (Gupta et al., NeurIPS 2021). Features are coefficients of k polynomials per axis, K =
// k^2 (one axis: k). A layer halves the grid until one point is left, applies small operators at each scale, and builds
// the grid up again. From scale n to n+1:
//   s_n+1 = sum_p s_n,p H_p^T,  d_n+1 = sum_p s_n,p G_p^T       p: even or odd along each axis, H_p = h_p1 x h_p2, G_p
//   = g_p1 x g_p2 U_d = A d + B s,  U_s = C d,  at the coarsest scale u = T s u_n,p = (u_n+1 + U_s) H_p + U_d G_p
// A is a spectral convolution of 2 modes, ReLU and a linear map; B and C are convolutions of 3 points per axis, ReLU
// and a linear map; with one axis all three are spectral convolutions alone. Of the mixed wavelets h x g none are kept,
// and a third axis is not halved: as published. The halved axes are padded to one power of two. Between layers GELU.
// Cost O(N K^2).
#include <algorithm>
#include <cmath>
#include <vector>

#include "libtorch/baselines.h"
#include "libtorch/images.h"
#include "libtorch/multiwavelet_filters.h"
#include "libtorch/spectral_baseline.h"

namespace lano {
namespace {

namespace nn = torch::nn;

constexpr std::int64_t kModes = 2;

std::int64_t coefficients(const BaselineConfig& config, const LanoShape& shape) {
  return shape.axes == 1 ? config.wavelets : config.wavelets * config.wavelets;
}

// [B,n1,...,K] with the axes after the channels, for convolutions, and back.
torch::Tensor channels_first(const torch::Tensor& f) { return f.movedim(-1, 1); }
torch::Tensor channels_last(const torch::Tensor& image) { return image.movedim(1, -1); }

// A, B or C: a map of images and what follows it.
class ScaleOperator : public nn::Module {
 public:
  ScaleOperator(std::int64_t axes, std::int64_t channels, bool spectral) : plain_(axes == 1) {
    if (spectral || plain_) {
      spectral_ = register_module("spectral", std::make_shared<SpectralConvolution>(channels, channels, axes, kModes,
                                                                                    CoarseGrid::same_entries));
    } else {
      conv_ = register_convolution(*this, "conv", axes, channels, channels, 3);
    }
    if (plain_) return;
    linear_ = register_module("linear", nn::Linear(channels, channels));
    if (spectral) {
      // Glorot's variance, half of it in each part of a complex number.
      const torch::NoGradGuard no_grad;
      const double fans = 2.0 * static_cast<double>(channels) * std::pow(kModes, axes);
      for (torch::Tensor& weight : spectral_->parameters()) weight.normal_(0, std::sqrt(1 / fans));
    }
  }

  torch::Tensor forward(const torch::Tensor& f) {
    const torch::Tensor image = channels_first(f);
    const torch::Tensor mapped = channels_last(spectral_ ? spectral_->forward(image) : conv_.forward(image));
    return plain_ ? mapped : linear_(torch::relu(mapped));
  }

 private:
  bool plain_;
  std::shared_ptr<SpectralConvolution> spectral_;
  nn::AnyModule conv_;
  nn::Linear linear_{nullptr};
};

class MultiwaveletLayer : public nn::Module {
 public:
  MultiwaveletLayer(std::int64_t k, std::int64_t axes, std::int64_t channels)
      : halved_(std::min<std::int64_t>(axes, 2)), channels_(channels) {
    a_ = register_module("a", std::make_shared<ScaleOperator>(axes, channels, true));
    b_ = register_module("b", std::make_shared<ScaleOperator>(axes, channels, false));
    c_ = register_module("c", std::make_shared<ScaleOperator>(axes, channels, false));
    coarsest_ = register_module("coarsest", nn::Linear(channels, channels));
    // Rows (p, K), p as in parts(); columns: smooth, then detail.
    const MultiwaveletFilters f = multiwavelet_filters(k);
    const std::vector<torch::Tensor> h{f.h0, f.h1}, g{f.g0, f.g1};
    std::vector<torch::Tensor> rows;
    for (std::size_t p = 0; p < std::size_t{1} << halved_; ++p) {
      const torch::Tensor smooth = halved_ == 1 ? h[p] : torch::kron(h[p >> 1], h[p & 1]);
      const torch::Tensor detail = halved_ == 1 ? g[p] : torch::kron(g[p >> 1], g[p & 1]);
      rows.push_back(torch::cat({smooth.t(), detail.t()}, 1));
    }
    split_ = torch::cat(rows);
  }

  torch::Tensor forward(const torch::Tensor& f) {  // [B,n,n,...,K]
    const torch::Tensor split = split_.to(f.options());
    torch::Tensor smooth = f;
    std::vector<torch::Tensor> to_detail, to_smooth;
    while (smooth.size(1) > 1) {
      const std::vector<torch::Tensor> both = torch::matmul(parts(smooth), split).chunk(2, -1);
      smooth = both[0];
      to_detail.push_back(a_->forward(both[1]) + b_->forward(smooth));
      to_smooth.push_back(c_->forward(both[1]));
    }
    torch::Tensor u = coarsest_(smooth);
    for (std::size_t n = to_detail.size(); n-- > 0;)
      u = joined(torch::matmul(torch::cat({u + to_smooth[n], to_detail[n]}, -1), split.t()));
    return u;
  }

 private:
  // The points of each parity one after another, the last axis fastest: [B,n,n,...,K] -> [B,n/2,n/2,...,2^halved K].
  torch::Tensor parts(const torch::Tensor& f) const {
    std::vector<torch::Tensor> parity;
    for (std::int64_t p = 0; p < std::int64_t{1} << halved_; ++p) {
      torch::Tensor part = f;
      for (std::int64_t a = 0; a < halved_; ++a) part = part.slice(a + 1, p >> (halved_ - 1 - a) & 1, c10::nullopt, 2);
      parity.push_back(part);
    }
    return torch::cat(parity, -1);
  }

  torch::Tensor joined(const torch::Tensor& f) const {
    if (halved_ == 1) return f.unflatten(-1, {2, channels_}).flatten(1, 2);
    // [B,n,m,...,2,2,K] -> [B,n,2,m,2,...,K]
    return f.unflatten(-1, {2, 2, channels_}).movedim({-3, -2}, {2, 4}).flatten(3, 4).flatten(1, 2);
  }

  std::int64_t halved_, channels_;
  std::shared_ptr<ScaleOperator> a_, b_, c_;
  nn::Linear coarsest_{nullptr};
  torch::Tensor split_;  // [2^halved K, 2K], double: numbers of the definition, not of the model
};

class MultiwaveletOperator : public SpectralBaseline {
 public:
  MultiwaveletOperator(const BaselineConfig& config, const LanoShape& shape)
      : SpectralBaseline(config, shape, Project::clouds, coefficients(config, shape), config.width) {
    nn::ModuleList layers;
    for (std::int64_t l = 0; l < config.layers; ++l) {
      layers_.push_back(std::make_shared<MultiwaveletLayer>(config.wavelets, axes(), coefficients(config, shape)));
      layers->push_back(layers_.back());
    }
    register_module("layers", layers);
  }

 private:
  Shape image_shape(const Shape& mesh) const override {
    Shape sizes = mesh;
    std::int64_t side = 1;
    for (std::size_t a = 0; a < mesh.size() && a < 2; ++a) {
      while (side < mesh[a]) side *= 2;
    }
    for (std::size_t a = 0; a < mesh.size() && a < 2; ++a) sizes[a] = side;
    return sizes;
  }

  torch::Tensor transform(const torch::Tensor& image) override {
    torch::Tensor f = channels_last(image);
    for (std::size_t l = 0; l < layers_.size(); ++l) f = layers_[l]->forward(l == 0 ? f : torch::gelu(f));
    return channels_first(f);
  }

  std::vector<std::shared_ptr<MultiwaveletLayer>> layers_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_wmt(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<MultiwaveletOperator>(config, shape);
}

}  // namespace lano
