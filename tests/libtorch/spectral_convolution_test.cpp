#include "libtorch/spectral_convolution.h"

#include <complex>

#include "spectral_cases.h"

namespace lano::spectral_convolution_test {
namespace {

// The definition by sums over points and frequencies, for two axes and one channel: frequencies -m..m-1 and 0..m-1, as
// many as both signs fit.
double by_sums(const std::vector<std::vector<double>>& f, const torch::Tensor& positive, const torch::Tensor& negative,
               int m, int x, int y) {
  const int n1 = static_cast<int>(f.size()), n2 = static_cast<int>(f[0].size());
  const int rows = std::min(m, n1 / 2), columns = std::min(m, n2 / 2 + 1);
  double sum = 0;
  for (int k1 = -rows; k1 < rows; ++k1) {
    for (int k2 = 0; k2 < columns; ++k2) {
      std::complex<double> c = 0;
      for (int p = 0; p < n1; ++p) {
        for (int q = 0; q < n2; ++q)
          c += f[p][q] * std::polar(1.0, -2 * M_PI * (double(k1) * p / n1 + double(k2) * q / n2));
      }
      const torch::Tensor w = k1 >= 0 ? positive[0][0][k1][k2] : negative[0][0][m + k1][k2];
      c *= std::complex<double>(w[0].item<double>(), w[1].item<double>()) *
           std::polar(1.0, 2 * M_PI * (double(k1) * x / n1 + double(k2) * y / n2));
      sum += c.real() * (k2 == 0 || 2 * k2 == n2 ? 1 : 2);  // the other half of the spectrum
    }
  }
  return sum / (n1 * n2);
}

TEST(SpectralConvolution, IsItsDefinitionOnSmallAndOddGrids) {
  constexpr int kModes = 4;
  SpectralConvolution layer(1, 1, 2, kModes);
  layer.to(torch::kFloat64);
  const auto weights = layer.parameters();
  ASSERT_EQ(weights.size(), 2u);
  const torch::NoGradGuard no_grad;
  for (const auto& [n1, n2] : {std::pair{10, 11}, std::pair{8, 6}, std::pair{5, 4}, std::pair{3, 2}}) {
    const torch::Tensor image = torch::randn({1, 1, n1, n2}, torch::kFloat64), out = layer.forward(image);
    std::vector<std::vector<double>> f(static_cast<std::size_t>(n1), std::vector<double>(static_cast<std::size_t>(n2)));
    for (int x = 0; x < n1; ++x) {
      for (int y = 0; y < n2; ++y) f[x][y] = image[0][0][x][y].item<double>();
    }
    for (int x = 0; x < n1; ++x) {
      for (int y = 0; y < n2; ++y)
        EXPECT_NEAR(out[0][0][x][y].item<double>(), by_sums(f, weights[0], weights[1], kModes, x, y), 1e-12) << n1;
    }
  }
}

// What a grid can carry is carried the same by one with half the points, on one, two and three axes.
TEST(SpectralConvolution, IsTheSameOperatorAtEveryResolution) {
  const torch::NoGradGuard no_grad;
  for (std::int64_t axes = 1; axes <= 3; ++axes) {
    SpectralConvolution layer(2, 3, axes, 6);
    layer.to(torch::kFloat64);
    std::vector<std::int64_t> sizes{1, 2}, dims;
    for (std::int64_t a = 0; a < axes; ++a) {
      sizes.push_back(16);
      dims.push_back(a + 2);
    }
    // Frequencies below 4 only: a grid of 8 points has them all, and cannot have the layer's 6.
    torch::Tensor spectrum = torch::fft::fftn(torch::randn(sizes, torch::kFloat64), c10::nullopt, dims);
    for (const std::int64_t dim : dims) spectrum.narrow(dim, 4, 9).zero_();
    torch::Tensor fine = torch::real(torch::fft::ifftn(spectrum, c10::nullopt, dims)), coarse = fine,
                  expected = layer.forward(fine);
    for (const std::int64_t dim : dims) {
      coarse = coarse.slice(dim, 0, c10::nullopt, 2);
      expected = expected.slice(dim, 0, c10::nullopt, 2);
    }
    EXPECT_LT((layer.forward(coarse) - expected).abs().max().item<double>(), 1e-12) << axes << " axes";
  }
}

}  // namespace
}  // namespace lano::spectral_convolution_test
