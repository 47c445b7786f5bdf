#include "libtorch/unet.h"

#include "spectral_cases.h"

namespace lano::unet_test {
namespace {

TEST(ChannelNorm, KeepsRunningStatisticsOfBatches) {
  ChannelNorm norm(2, ImageNorm::batch);
  EXPECT_EQ(norm.named_buffers().size(), 2u);  // no counters
  const torch::Tensor image = torch::randn({4, 2, 5, 3}) * 3 + 7, flat = image.transpose(0, 1).flatten(1);
  const torch::Tensor out = norm.forward(image);
  EXPECT_LT(out.transpose(0, 1).flatten(1).mean(1).abs().max().item<float>(), 1e-5);
  const torch::Tensor mean = norm.named_buffers()["mean"], variance = norm.named_buffers()["variance"];
  EXPECT_TRUE(torch::allclose(mean, 0.1 * flat.mean(1), 1e-4));
  EXPECT_TRUE(torch::allclose(variance, 0.9 + 0.1 * flat.var(1), 1e-4));
  norm.eval();
  const torch::Tensor expected = (image - mean.view({1, 2, 1, 1})) / (variance.view({1, 2, 1, 1}) + 1e-5).sqrt();
  EXPECT_TRUE(torch::allclose(norm.forward(image), expected, 1e-4, 1e-5));
}

// The coarsest scale of a small mesh has one point; a batch of one is then a single value, of which there is no
// variance.
TEST(ChannelNorm, TakesASingleValue) {
  const torch::Tensor one = torch::full({1, 3, 1, 1}, 5.0f);
  ChannelNorm batch(3, ImageNorm::batch), instance(3, ImageNorm::instance);
  EXPECT_TRUE(torch::allclose(batch.forward(one), one, 1e-4));
  for (const auto& item : batch.named_buffers()) EXPECT_TRUE(torch::isfinite(item.value()).all().item<bool>());
  EXPECT_TRUE(torch::equal(instance.forward(one), one));
  EXPECT_EQ(instance.named_buffers().size(), 0u);
}

// The output for a sample does not depend on the other samples of the batch.
TEST(ChannelNorm, OfInstancesSeesOneSample) {
  ChannelNorm norm(2, ImageNorm::instance);
  const torch::Tensor image = torch::randn({3, 2, 4});
  EXPECT_TRUE(torch::allclose(norm.forward(image)[1], norm.forward(image.narrow(0, 1, 1))[0], 1e-5, 1e-6));
  const torch::Tensor centred = image - image.mean(-1, true);
  EXPECT_TRUE(
      torch::allclose(norm.forward(image), centred / (centred.square().mean(-1, true) + 1e-5).sqrt(), 1e-4, 1e-5));
}

TEST(UNet, KeepsTheShapeOnOneToThreeAxes) {
  const torch::NoGradGuard no_grad;
  for (const Shape& sizes : {Shape{1, 2, 16}, Shape{1, 2, 32, 16}, Shape{1, 2, 16, 16, 32}}) {
    UNet unet(static_cast<std::int64_t>(sizes.size()) - 2, 2, ImageNorm::batch);
    EXPECT_EQ(unet.forward(torch::randn(sizes)).sizes(), torch::IntArrayRef(sizes));
  }
}

}  // namespace
}  // namespace lano::unet_test
