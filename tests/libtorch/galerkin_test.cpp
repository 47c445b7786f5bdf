#include "libtorch/baseline_cases.h"
#include "parity.h"

namespace lano::galerkin_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  // The last of two blocks holds the decoder there.
  return renamed(name, {{"encoder1", "preprocess.linear_pre.0"},
                        {"encoder2", "preprocess.linear_post"},
                        {"decoder", "blocks.1.mlp2"},
                        {"norm1a", "ln_1a"},
                        {"norm1", "ln_1"},
                        {"norm2", "ln_2"},
                        {"norm.", "blocks.1.ln_3."},
                        {"ffn.linear1", "mlp.linear_pre.0"},
                        {"ffn.linear2", "mlp.linear_post"},
                        {"attention.q", "Attn.query"},
                        {"attention.k", "Attn.key"},
                        {"attention.v", "Attn.value"},
                        {"attention.out", "Attn.proj"}});
}

TEST(Galerkin, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "Galerkin_Transformer_structured_2D", .model = "galerkin", .theirs = theirs});
  expect_parity({.file = "Galerkin_Transformer_unstructured", .model = "galerkin", .theirs = theirs});
  expect_parity({.file = "Galerkin_Transformer_large_weights_unstructured", .model = "galerkin", .theirs = theirs});
}

TEST(Galerkin, ParameterCounts) {
  EXPECT_EQ(standard_count("galerkin", on_mesh({85, 85})), 1096321);
  EXPECT_EQ(standard_count("galerkin", on_cloud(972)), 1096321);
}

// The Fourier type with its N x N matrix written out.
TEST(Galerkin, TheFourierTypeIsAKernelOfNormedQueriesAndKeys) {
  BaselineConfig config = small_config("galerkin", 1);
  config.attention = LinearAttentionKind::fourier;
  const LanoShape shape = on_cloud(7);
  const auto model = double_model(config, shape);
  const Batch batch = batch_of(shape, 2);
  const ByHand hand(*model);
  torch::Tensor f = hand.encoder(batch);
  const torch::Tensor x = hand.norm(f, "blocks.0.norm1"), y = hand.norm(f, "blocks.0.norm1a");
  const std::string at = "blocks.0.attention.";
  std::vector<torch::Tensor> heads;
  for (std::int64_t h = 0; h < 2; ++h) {
    const auto normed = [&](const torch::Tensor& z, const std::string& name) {
      return ByHand::normed(ByHand::head(z, h, 2)) * hand[at + name + "_weight"][h] + hand[at + name + "_bias"][h];
    };
    const torch::Tensor q = normed(hand.linear(x, at + "q"), "norm_q"), k = normed(hand.linear(y, at + "k"), "norm_k");
    const torch::Tensor kernel = torch::matmul(q, k.transpose(1, 2));
    ASSERT_EQ(kernel.sizes(), (std::vector<std::int64_t>{2, 7, 7}));
    heads.push_back(torch::matmul(kernel / 7, ByHand::head(hand.linear(y, at + "v"), h, 2)));
  }
  f = f + hand.linear(torch::cat(heads, -1), at + "out");
  f = f + hand.mlp(hand.norm(f, "blocks.0.norm2"), "blocks.0.ffn.linear1", "blocks.0.ffn.linear2");
  const torch::Tensor expected = hand.linear(hand.norm(f, "norm"), "decoder");
  EXPECT_LT(largest_difference(model->forward(batch).detach(), expected),
            1e-11 * (1 + expected.abs().max().item<double>()));
}

}  // namespace
}  // namespace lano::galerkin_test
