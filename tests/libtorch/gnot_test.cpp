#include "libtorch/baseline_cases.h"
#include "parity.h"

namespace lano::gnot_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  return renamed(name, {{"encoder1", "preprocess_z.linear_pre.0"},
                        {"encoder2", "preprocess_z.linear_post"},
                        {"queries.linear1", "preprocess_x.linear_pre.0"},
                        {"queries.linear2", "preprocess_x.linear_post"},
                        {"decoder.linear1", "fc1"},
                        {"decoder.linear2", "fc2"},
                        {"experts", "moe_mlp"},
                        {"linear1", "0"},
                        {"linear2", "2"},
                        {"gate1", "gatenet.0"},
                        {"gate2", "gatenet.2"},
                        {"gate3", "gatenet.4"},
                        {"norm", "ln"},
                        {"self.", "selfattn."},
                        {"cross.", "crossattn."},
                        {"attn.q.", "attn.query."},
                        {"attn.k.", "attn.key."},
                        {"attn.v.", "attn.value."},
                        {"attn.out.", "attn.proj."}});
}

TEST(Gnot, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "GNOT_structured_2D", .model = "gnot", .theirs = theirs});
  expect_parity({.file = "GNOT_unstructured", .model = "gnot", .theirs = theirs});
  expect_parity({.file = "GNOT_large_weights_unstructured", .model = "gnot", .theirs = theirs});
}

TEST(Gnot, ParameterCounts) {
  EXPECT_EQ(standard_count("gnot", on_mesh({85, 85})), 4870809);
  EXPECT_EQ(standard_count("gnot", on_cloud(972)), 4870809);
}

// A gate that is sure of one expert leaves the others without a part.
TEST(Gnot, TheGateChoosesTheExpert) {
  const LanoShape shape = on_cloud(7);
  const auto model = double_model(small_config("gnot", 1), shape);
  const Batch batch = batch_of(shape, 1);
  const ByHand hand(*model);
  const torch::NoGradGuard no_grad;
  hand["blocks.0.gate3.weight"].zero_();
  hand["blocks.0.gate3.bias"].copy_(torch::tensor({-1000.0, 0.0, -1000.0}, torch::kFloat64));
  const torch::Tensor out = model->forward(batch);
  for (const char* const idle : {"0", "2"}) hand[std::string("blocks.0.experts1.") + idle + ".linear1.weight"].add_(1);
  EXPECT_TRUE(torch::equal(model->forward(batch), out));
  hand["blocks.0.experts1.1.linear1.weight"].add_(1);
  EXPECT_GT(largest_difference(model->forward(batch), out), 1e-3);
}

}  // namespace
}  // namespace lano::gnot_test
