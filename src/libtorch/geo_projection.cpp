// Geo-FNO's projection (Li et al., 2022, JMLR 2023). With xi = phi(x) in the unit torus, k1 = -m .. m-1 and k2 = 0 ..
// m-1:
//   in:   c_k = sum_n f_n e^(-2 pi i <k, xi_n>),  image = IFFT( R_k c_k )
//   out:  c_k = R'_k FFT(image)_k,  f_n = Re sum_k c_k e^(2 pi i <k, xi_n>) (1 + [k2 > 0] e^(2 pi i xi_n1))
// The bracket stands for the half of the spectrum a real FFT leaves out: its mirror image is taken one row off (k1
// against -1-k1), as published.
//   phi(x) = x + x g(x),  g: [x, angle, radius] with their sines and cosines at pi 2^j, j < 8, through a network of
//   width 128 with tanh.
// Cost O(N C m^2) in addition to the FFTs of the grid.
#include "libtorch/geo_projection.h"

#include <cmath>

namespace lano {

namespace nn = torch::nn;

namespace {

constexpr std::int64_t kFeatures = 32, kWaves = kFeatures / 4, kHidden = 4 * kFeatures;
constexpr std::int64_t kCode = 42;  // numbers that describe a shape
constexpr double kCentre = 0.0001;  // of angle and radius

}  // namespace

class GeoProjection::Deformation : public nn::Module {
 public:
  Deformation() {
    features_ = register_module("features", nn::Linear(4, kFeatures));
    // Geo-FNO can take a code of the shape in addition to the points. Our data have none, so this map has no effect: it
    // is here for the count of parameters that is quoted for the projection, and for its published weights to fit.
    register_module("code", nn::Linear(kCode, kFeatures));
    inner0_ = register_module("inner0", nn::Linear(3 * kFeatures, kHidden));
    inner1_ = register_module("inner1", nn::Linear(kHidden, kHidden));
    inner2_ = register_module("inner2", nn::Linear(kHidden, kHidden));
    inner3_ = register_module("inner3", nn::Linear(kHidden, kHidden));
    shift_ = register_module("shift", nn::Linear(kHidden, 2));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor from_centre = x - kCentre;
    const torch::Tensor angle = torch::atan2(from_centre.select(2, 1), from_centre.select(2, 0));
    const torch::Tensor point = torch::cat({x, torch::stack({angle, from_centre.norm(2, -1)}, -1)}, -1);  // [B,N,4]
    const torch::Tensor phases = (point.unsqueeze(-1) * (torch::arange(kWaves, x.options()).exp2() * M_PI)).flatten(2);
    torch::Tensor h = inner0_(torch::cat({features_(point), phases.sin(), phases.cos()}, -1));
    for (nn::Linear* inner : {&inner1_, &inner2_, &inner3_}) h = torch::tanh((*inner)(h));
    return x + x * shift_(h);
  }

 private:
  nn::Linear features_{nullptr}, inner0_{nullptr}, inner1_{nullptr}, inner2_{nullptr}, inner3_{nullptr},
      shift_{nullptr};
};

GeoProjection::GeoProjection(std::int64_t channels, std::int64_t modes) : modes_(modes) {
  deformation_ = register_module("deformation", std::make_shared<Deformation>());
  in_ = register_module("in", std::make_shared<SpectralConvolution>(channels, channels, 2, modes));
  out_ = register_module("out", std::make_shared<SpectralConvolution>(channels, channels, 2, modes));
}

GeoProjection::Waves GeoProjection::waves(const torch::Tensor& coordinates) {
  const torch::Tensor turns = deformation_->forward(coordinates) * (2 * M_PI);
  const torch::Tensor first = turns.select(2, 0).unsqueeze(-1).unsqueeze(-1),
                      second = turns.select(2, 1).unsqueeze(-1).unsqueeze(-1);
  const torch::Tensor k2 = torch::arange(modes_, turns.options());
  const torch::Tensor k1 = torch::cat({k2, k2 - static_cast<double>(modes_)}).unsqueeze(-1);  // in the order of an FFT
  const torch::Tensor phase = first * k1 + second * k2, mirrored = (k2 > 0).to(turns.scalar_type());
  const torch::Tensor cosine = phase.cos(), sine = phase.sin();
  const torch::Tensor back_cosine = cosine + mirrored * (phase + first).cos(),
                      back_sine = sine + mirrored * (phase + first).sin();
  return {cosine.flatten(2), sine.flatten(2), back_cosine.flatten(2), back_sine.flatten(2)};
}

torch::Tensor GeoProjection::to_grid(const torch::Tensor& fields, const Waves& waves, std::int64_t side) {
  const torch::Tensor f = fields.transpose(1, 2);
  const torch::Tensor sums =
      torch::complex(torch::matmul(f, waves.cosine), -torch::matmul(f, waves.sine)).unflatten(2, {2 * modes_, modes_});
  const torch::Tensor mixed = in_->mix(sums);
  torch::Tensor spectrum = torch::zeros({fields.size(0), fields.size(2), side, side / 2 + 1}, mixed.options());
  spectrum.narrow(2, 0, modes_).narrow(3, 0, modes_).copy_(mixed.narrow(2, 0, modes_));
  spectrum.narrow(2, side - modes_, modes_).narrow(3, 0, modes_).copy_(mixed.narrow(2, modes_, modes_));
  return torch::fft::irfft2(spectrum, at::IntArrayRef({side, side}));
}

torch::Tensor GeoProjection::to_points(const torch::Tensor& image, const Waves& waves) {
  const torch::Tensor low = torch::fft::rfft2(image).narrow(3, 0, modes_);
  const torch::Tensor kept = torch::cat({low.narrow(2, 0, modes_), low.narrow(2, low.size(2) - modes_, modes_)}, 2);
  const torch::Tensor c = out_->mix(kept).flatten(2).transpose(1, 2);  // [B,2m*m,C]
  return torch::matmul(waves.back_cosine, torch::real(c)) - torch::matmul(waves.back_sine, torch::imag(c));
}

}  // namespace lano
