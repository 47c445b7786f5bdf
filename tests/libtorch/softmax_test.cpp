#include <fstream>

#include "libtorch/baseline_cases.h"
#include "libtorch/softmax_attention.h"

namespace lano::softmax_test {
namespace {

using namespace test;

TEST(SoftmaxAttention, TilesGiveTheNaiveAnswerAndGradient) {
  torch::manual_seed(4);
  const auto random = [](std::int64_t rows) {
    return (2 * torch::randn({2, 3, rows, 4}, torch::kFloat64)).requires_grad_();
  };
  const torch::Tensor q = random(11), k = random(9), v = random(9),
                      probe = torch::randn({2, 3, 11, 4}, torch::kFloat64);
  const torch::Tensor naive = torch::matmul(torch::softmax(torch::matmul(q, k.transpose(2, 3)), -1), v);
  const auto expected = torch::autograd::grad({(naive * probe).sum()}, {q, k, v});
  for (const std::int64_t rows : {1, 3, 4, 11, 100}) {
    const torch::Tensor out = tiled_softmax_attention(q, k, v, rows);
    EXPECT_LT(largest_difference(out.detach(), naive.detach()), 1e-14) << rows;
    const auto gradients = torch::autograd::grad({(out * probe).sum()}, {q, k, v});
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_LT(largest_difference(gradients[i], expected[i]), 1e-13) << rows << " " << i;
  }
}

TEST(SoftmaxAttention, ExtremeScoresStayFinite) {
  const torch::Tensor q = torch::full({1, 1, 2, 1}, 1e4).requires_grad_(),
                      k = torch::tensor({1e4f, -1e4f}).view({1, 1, 2, 1});
  const torch::Tensor v = torch::tensor({3.0f, 5.0f}).view({1, 1, 2, 1}), out = tiled_softmax_attention(q, k, v, 1);
  EXPECT_TRUE(torch::equal(out.detach(), torch::full({1, 1, 2, 1}, 3.0f)));
  out.sum().backward();
  EXPECT_TRUE(torch::isfinite(q.grad()).all().item<bool>());
}

std::int64_t peak_kilobytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      std::int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes;
    }
  }
  return 0;
}

TEST(SoftmaxAttention, KeepsNoMatrixOfAllPairs) {
  constexpr std::int64_t kPoints = 8192, kHeads = 2,
                         kAll = kHeads * kPoints * kPoints * 4 / 1024;  // kilobytes of all scores: 512 MB
  const torch::Tensor q = torch::randn({1, kHeads, kPoints, 8}).requires_grad_();
  torch::matmul(torch::randn({64, 64}), torch::randn({64, 64}));  // the libraries' own memory
  const std::int64_t before = peak_kilobytes();
  ASSERT_GT(before, 0);
  tiled_softmax_attention(q, q, q, 64).sum().backward();
  EXPECT_LT(peak_kilobytes() - before, kAll / 8);
}

TEST(Softmax, AgreesWithTheVanillaTransformer) {
  const LanoShape shape = on_cloud(7);
  const auto model = double_model(small_config("softmax", 1), shape);
  const Batch batch = batch_of(shape, 2);
  const ByHand hand(*model);
  const torch::Tensor expected = hand.pre_norm(batch, [&](const torch::Tensor& f) {
    const auto parts = hand.linear(f, "blocks.0.attention.qkv").chunk(3, -1);
    std::vector<torch::Tensor> heads;
    for (std::int64_t h = 0; h < 2; ++h) {
      const torch::Tensor q = ByHand::head(parts[0], h, 2), k = ByHand::head(parts[1], h, 2),
                          v = ByHand::head(parts[2], h, 2);
      heads.push_back(torch::matmul(torch::softmax(torch::matmul(q, k.transpose(1, 2)) / std::sqrt(6.0), -1), v));
    }
    return hand.linear(torch::cat(heads, -1), "blocks.0.attention.out");
  });
  EXPECT_LT(largest_difference(model->forward(batch).detach(), expected),
            1e-12 * (1 + expected.abs().max().item<double>()));
}

TEST(Softmax, ParameterCounts) {
  // A LANO without stencils and without biases of its agents: 1,104,513 - 8 (9 C + 4 M).
  EXPECT_EQ(standard_count("softmax", on_mesh({85, 85})), 1104513 - 8 * (9 * 128 + 4 * 128));
  EXPECT_EQ(standard_count("softmax", on_cloud(972)), 1104513 - 8 * (9 * 128 + 4 * 128));
}

}  // namespace
}  // namespace lano::softmax_test
