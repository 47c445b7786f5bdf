#include "libtorch/baseline_cases.h"
#include "parity.h"

namespace lano::transolver_test {
namespace {

std::string theirs(const std::string& name) {
  // The last of two blocks holds the decoder there.
  return renamed(name, {{"encoder1", "preprocess.linear_pre.0"},
                        {"encoder2", "preprocess.linear_post"},
                        {"decoder", "blocks.1.mlp2"},
                        {"norm1", "ln_1"},
                        {"norm2", "ln_2"},
                        {"norm.", "blocks.1.ln_3."},
                        {"ffn1", "mlp.linear_pre.0"},
                        {"ffn2", "mlp.linear_post"},
                        {"attention.", "Attn."},
                        {"Attn.x.", "Attn.in_project_x."},
                        {"Attn.y.", "Attn.in_project_fx."},
                        {"Attn.slice.", "Attn.in_project_slice."},
                        {"Attn.q.", "Attn.to_q."},
                        {"Attn.k.", "Attn.to_k."},
                        {"Attn.v.", "Attn.to_v."},
                        {"Attn.out.", "Attn.to_out.0."}});
}

TEST(Transolver, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "Transolver_structured_2D", .model = "transolver", .theirs = theirs});
  expect_parity({.file = "Transolver_unstructured", .model = "transolver", .theirs = theirs});
  expect_parity({.file = "Transolver_large_weights_structured_2D", .model = "transolver", .theirs = theirs});
  expect_parity({.file = "Transolver_large_weights_unstructured", .model = "transolver", .theirs = theirs});
}

TEST(Transolver, ParameterCounts) {
  EXPECT_EQ(test::standard_count("transolver", test::on_mesh({85, 85})), 3074241);
  EXPECT_EQ(test::standard_count("transolver", test::on_cloud(972)), 977089);
  EXPECT_EQ(test::standard_count("transolver", test::on_mesh({111, 26}, 0)),
            3073985);  // coordinates alone, the airfoil: the paper's 3.074M
}

}  // namespace
}  // namespace lano::transolver_test
