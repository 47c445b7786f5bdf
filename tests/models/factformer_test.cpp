#include "models/baseline_cases.h"
#include "parity.h"

namespace lano {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  // The last of two blocks holds the decoder there.
  return renamed(name, {{"encoder1", "preprocess.linear_pre.0"}, {"encoder2", "preprocess.linear_post"}, {"decoder", "blocks.1.mlp2"},
                        {"axis0.q.", "attn_x.to_q."}, {"axis0.k.", "attn_x.to_k."}, {"axis1.q.", "attn_y.to_q."}, {"axis1.k.", "attn_y.to_k."},
                        {"axis0.", "to_x.0."}, {"axis1.", "to_y.1."}, {".in.", ".to_in."}, {"0.norm.", "0.out_ffn.norm."}, {"1.norm.", "1.out_ffn.norm."},
                        {".mlp1.", ".out_ffn.fn.linear_pre.0."}, {"0.mlp2.", "0.out_ffn.fn.linears.0.0."},
                        {"to_y.1.mlp2.", "to_y.1.out_ffn.fn.linears.0.0."}, {".mlp3.", ".out_ffn.fn.linear_post."},
                        {"attention.v.", "attention.to_v."}, {"attention.out.", "attention.to_out.0."}, {"attention.", "Attn."},
                        {"norm1", "ln_1"}, {"norm2", "ln_2"}, {"ffn.linear1", "mlp.linear_pre.0"}, {"ffn.linear2", "mlp.linear_post"}});
}

TEST(FactFormer, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "Factformer_structured_2D", .model = "factformer",
                 .theirs = [](const std::string& name) { return name.starts_with("norm.") ? renamed(name, {{"norm.", "blocks.1.ln_3."}}) : theirs(name); }});
}

TEST(FactFormer, ParameterCounts) { EXPECT_EQ(standard_count("factformer", on_mesh({85, 85})), 1767041); }

// The weights along one axis from the means over the others, written for any number of axes: [B,n,n] of one head.
torch::Tensor axis_weights(const ByHand& hand, torch::Tensor line, std::int64_t axis, std::int64_t head, bool averaged) {
  const std::string at = "blocks.0.attention.axis" + std::to_string(axis) + ".";
  if (averaged) {
    line = torch::gelu(hand.linear(hand.norm(hand.linear(line, at + "in"), at + "norm"), at + "mlp1"));
    line = hand.linear(torch::gelu(hand.linear(line, at + "mlp2")) + line, at + "mlp3");
  }
  const torch::Tensor own = ByHand::head(line, head, 2);
  return torch::softmax(torch::matmul(hand.linear(own, at + "q"), hand.linear(own, at + "k").transpose(1, 2)) / std::sqrt(6.0), -1);
}

TEST(FactFormer, InSpaceEveryAxisHasItsWeights) {
  const LanoShape shape = on_mesh({2, 4, 3});
  const auto model = double_model(small_config("factformer", 1), shape);
  const Batch batch = batch_of(shape, 2);
  const ByHand hand(*model);
  const torch::Tensor expected = hand.pre_norm(batch, [&](const torch::Tensor& f) {
    const torch::Tensor image = f.view({2, 2, 4, 3, 12});
    std::vector<torch::Tensor> heads;
    for (std::int64_t h = 0; h < 2; ++h) {
      const torch::Tensor v = hand.linear(ByHand::head(f, h, 2), "blocks.0.attention.v").view({2, 2, 4, 3, 6});
      heads.push_back(torch::einsum("bxi,byj,bzk,bijkd->bxyzd", {axis_weights(hand, image.mean(2).mean(2), 0, h, true),
                                                                 axis_weights(hand, image.mean(1).mean(2), 1, h, true),
                                                                 axis_weights(hand, image.mean(1).mean(1), 2, h, true), v}));
    }
    return hand.linear(torch::cat(heads, -1).view({2, 24, 12}), "blocks.0.attention.out");
  });
  EXPECT_LT(largest_difference(model->forward(batch).detach(), expected), 1e-11 * (1 + expected.abs().max().item<double>()));
}

TEST(FactFormer, OnALineItIsSoftmaxAttention) {
  const LanoShape shape = on_mesh({7});
  const auto model = double_model(small_config("factformer", 1), shape);
  const Batch batch = batch_of(shape, 2);
  const ByHand hand(*model);
  const torch::Tensor expected = hand.pre_norm(batch, [&](const torch::Tensor& f) {
    std::vector<torch::Tensor> heads;
    for (std::int64_t h = 0; h < 2; ++h) {
      heads.push_back(torch::matmul(axis_weights(hand, f, 0, h, false), hand.linear(ByHand::head(f, h, 2), "blocks.0.attention.v")));
    }
    return hand.linear(torch::cat(heads, -1), "blocks.0.attention.out");
  });
  EXPECT_LT(largest_difference(model->forward(batch).detach(), expected), 1e-11 * (1 + expected.abs().max().item<double>()));
}

}  // namespace
}  // namespace lano
