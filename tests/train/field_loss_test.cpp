// The gradient term of each axis, as the public Darcy scripts of this family have it, against another implementation in
// double that follows those scripts word by word, and its gradient against finite differences of that one.
// (The other terms: lano_trainable_test.cpp.)
#include "train/field_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace lano::field_loss_test {
namespace {

constexpr std::size_t kRows = 5, kColumns = 6, kPoints = kRows * kColumns, kChannels = 2, kSamples = 3;
const std::vector<double> kSpacing{0.2, 0.5}, kShift{0.4, -1}, kScale{2, 0.5}, kWeights{2, 0.5, 1};

std::vector<float> normal(std::size_t size, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(stream.normal());
  return values;
}

// One channel of a field on the grid with a frame of zeros around it.
using Framed = std::vector<std::vector<double>>;

double divided(double error, double truth, double count, LossKind kind) {
  return std::sqrt(error / (kind == LossKind::relative_l2 ? truth : count));
}

// Of one sample, physical values [N, du]: the relative norm of the error, and weight times that of the slopes along x
// plus that of the slopes along y; before slopes are taken, the outermost points of the prediction become zero, and
// both fields get a frame of zeros.
double sample_loss(const std::vector<double>& predicted, const std::vector<double>& truth, const LossConfig& config) {
  double error = 0, size = 0;
  std::vector<double> slope_error(2, 0), slope_size(2, 0);
  for (std::size_t c = 0; c < kChannels; ++c) {
    const double weight = config.channel_weights.empty() ? 1 : config.channel_weights[c];
    Framed u(kRows + 2, std::vector<double>(kColumns + 2, 0)), t = u;
    for (std::size_t i = 0; i < kRows; ++i) {
      for (std::size_t j = 0; j < kColumns; ++j) {
        const std::size_t at = (i * kColumns + j) * kChannels + c;
        error += weight * std::pow(predicted[at] - truth[at], 2);
        size += weight * truth[at] * truth[at];
        const bool rim = i == 0 || j == 0 || i + 1 == kRows || j + 1 == kColumns;
        u[i + 1][j + 1] = rim ? 0 : predicted[at];
        t[i + 1][j + 1] = truth[at];
      }
    }
    for (std::size_t i = 1; i <= kRows; ++i) {
      for (std::size_t j = 1; j <= kColumns; ++j) {
        const double h[] = {2 * kSpacing[0], 2 * kSpacing[1]};
        const double tx = (t[i + 1][j] - t[i - 1][j]) / h[0], ty = (t[i][j + 1] - t[i][j - 1]) / h[1];
        slope_error[0] += weight * std::pow((u[i + 1][j] - u[i - 1][j]) / h[0] - tx, 2);
        slope_error[1] += weight * std::pow((u[i][j + 1] - u[i][j - 1]) / h[1] - ty, 2);
        slope_size[0] += weight * tx * tx;
        slope_size[1] += weight * ty * ty;
      }
    }
  }
  constexpr double kValues = kPoints * kChannels;
  double loss = divided(error, size, kValues, config.kind);
  for (const std::size_t axis : {0u, 1u})
    loss += config.gradient_weight * divided(slope_error[axis], slope_size[axis], kValues, config.kind);
  return loss;
}

double loss_by_the_words(const std::vector<double>& network, const std::vector<float>& truth,
                         const LossConfig& config) {
  double sum = 0;
  for (std::size_t b = 0; b < kSamples; ++b) {
    std::vector<double> u, t;
    for (std::size_t i = b * kPoints * kChannels; i < (b + 1) * kPoints * kChannels; ++i) {
      u.push_back(network[i] * kScale[i % kChannels] + kShift[i % kChannels]);
      t.push_back(static_cast<double>(truth[i]));
    }
    sum += kWeights[b] * sample_loss(u, t, config) / kSamples;
  }
  return sum;
}

class AxisTerms : public testing::TestWithParam<LossKind> {};
INSTANTIATE_TEST_SUITE_P(Both, AxisTerms, testing::Values(LossKind::relative_l2, LossKind::l2));

TEST_P(AxisTerms, AreThoseOfThePublicScriptsWithTheirGradient) {
  LossConfig config;
  config.kind = GetParam();
  config.gradient_weight = 0.3;
  config.gradient_kind = GradientKind::axes;
  config.channel_weights = {4, 0.25};
  constexpr std::size_t kAll = kSamples * kPoints * kChannels;
  const std::vector<float> network = normal(kAll, 1), truth = normal(kAll, 2);
  std::vector<double> at(network.begin(), network.end());
  std::vector<float> slopes(kAll);
  const std::vector<std::int64_t> sizes(kSamples, kPoints);
  constexpr double kShare = 0.7;
  const double loss = FieldLoss(config, ChannelMap(kShift, kScale), {kRows, kColumns}, kSpacing)(
      network, truth, sizes, kWeights, kShare, slopes);
  EXPECT_NEAR(loss, loss_by_the_words(at, truth, config), 1e-13 * loss);
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < kAll; ++i) {
    // Central differences in double: cut and rounding errors are about h^2 and 1e-16/h, 1e-10 here; slopes are float.
    constexpr double kStep = 1e-5;
    const double here = at[i];
    at[i] = here + kStep;
    const double above = loss_by_the_words(at, truth, config);
    at[i] = here - kStep;
    const double expected = kShare * (above - loss_by_the_words(at, truth, config)) / (2 * kStep);
    at[i] = here;
    largest = std::max(largest, std::abs(expected));
    worst = std::max(worst, std::abs(static_cast<double>(slopes[i]) - expected));
  }
  EXPECT_LT(worst, 2e-7 * largest);
}

}  // namespace
}  // namespace lano::field_loss_test
