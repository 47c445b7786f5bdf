// y = F^-1( R F x ): the FFT of each channel, R_k: C_in -> C_out complex for every kept frequency k, zero for the
// others, and back (Li et al., ICLR 2021). Kept are 0 <= k < m along the last axis, which a real FFT halves, and -m <=
// k < m along the others: 2^(axes-1) blocks of m^axes matrices, block b with the negative frequencies of axis a where
// bit a of b is set. Cost O(C N log N + C^2 m^axes).
#include "libtorch/spectral_convolution.h"

#include <algorithm>

#include "libtorch/images.h"

namespace lano {

torch::Tensor as_complex(const torch::Tensor& pairs) {
  // A trainer keeps all parameters in one buffer: a complex view cannot begin at an odd place of it.
  return torch::view_as_complex(pairs.storage_offset() % 2 == 0 ? pairs : pairs.clone());
}

SpectralConvolution::SpectralConvolution(std::int64_t in, std::int64_t out, std::int64_t axes, std::int64_t modes,
                                         CoarseGrid coarse)
    : out_(out), axes_(axes), modes_(modes), coarse_(coarse) {
  std::vector<std::int64_t> sizes{in, out};
  sizes.insert(sizes.end(), static_cast<std::size_t>(axes), modes);
  sizes.push_back(2);
  for (int b = 0; b < 1 << (axes - 1); ++b) {
    weights_.push_back(
        register_parameter("complex" + std::to_string(b + 1), torch::rand(sizes) / static_cast<double>(in * out)));
  }
}

torch::Tensor SpectralConvolution::forward(const torch::Tensor& image) {
  std::vector<std::int64_t> dims, sizes;
  for (std::int64_t a = 2; a < axes_ + 2; ++a) {
    dims.push_back(a);
    sizes.push_back(image.size(a));
  }
  return torch::fft::irfftn(mix(torch::fft::rfftn(image, c10::nullopt, dims)), sizes, dims);
}

torch::Tensor SpectralConvolution::mix(const torch::Tensor& spectrum) {
  std::vector<std::int64_t> sizes = spectrum.sizes().vec();
  sizes[1] = out_;
  torch::Tensor mixed = torch::zeros(sizes, spectrum.options());
  for (std::size_t b = 0; b < weights_.size(); ++b) {
    torch::Tensor from = spectrum, to = mixed, weight = as_complex(weights_[b]);
    for (std::int64_t a = 0; a < axes_; ++a) {
      const std::int64_t n = spectrum.size(a + 2);
      const bool halved = a + 1 == axes_, negative = !halved && (b >> a & 1) != 0;
      // Both signs of a frequency fit n points up to n/2; the one point of n = 1 goes to the last block, as published.
      const std::int64_t most = halved                                ? n
                                : coarse_ == CoarseGrid::same_entries ? n / 2 + 1
                                                                      : std::max<std::int64_t>(1, n / 2);
      const std::int64_t kept = std::min(modes_, most), first = negative ? n - kept : 0;
      from = from.narrow(a + 2, first, kept);
      to = to.narrow(a + 2, first, kept);
      weight = weight.narrow(a + 2, negative && coarse_ == CoarseGrid::same_frequencies ? modes_ - kept : 0, kept);
    }
    to.copy_(torch::einsum("bi...,io...->bo...", {from, weight}));
  }
  return mixed;
}

FourierLayer::FourierLayer(std::int64_t channels, std::int64_t axes, std::int64_t modes) {
  spectral_ = register_module("spectral", std::make_shared<SpectralConvolution>(channels, channels, axes, modes));
  local_ = register_convolution(*this, "local", axes, channels, channels, 1);
}

torch::Tensor FourierLayer::forward(const torch::Tensor& image) {
  return spectral_->forward(image) + local_.forward(image);
}

}  // namespace lano
