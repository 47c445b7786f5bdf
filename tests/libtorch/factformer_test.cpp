#include <tuple>

#include "libtorch/baseline_cases.h"
#include "parity.h"

namespace lano::factformer_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  if (name.starts_with("norm."))
    return renamed(name, {{"norm.", "blocks.1.ln_3."}});  // the last of two blocks holds the decoder there
  Renames renames{{"encoder1", "preprocess.linear_pre.0"},
                  {"encoder2", "preprocess.linear_post"},
                  {"decoder", "blocks.1.mlp2"},
                  {"norm1", "ln_1"},
                  {"norm2", "ln_2"},
                  {"ffn.linear1", "mlp.linear_pre.0"},
                  {"ffn.linear2", "mlp.linear_post"},
                  {"attention.v.", "Attn.to_v."},
                  {"attention.out.", "Attn.to_out.0."}};
  // Behind the first axis a transposition is the first part of theirs.
  for (const auto& [ours, letter, part] :
       {std::tuple("attention.axis0.", "x", ".0."), std::tuple("attention.axis1.", "y", ".1."),
        std::tuple("attention.axis2.", "z", ".1.")}) {
    const std::string axis = ours, weights = std::string("Attn.attn_") + letter + ".to_",
                      line = std::string("Attn.to_") + letter + part;
    renames.insert(renames.end(), {{axis + "q.", weights + "q."},
                                   {axis + "k.", weights + "k."},
                                   {axis + "in.", line + "to_in."},
                                   {axis + "norm.", line + "out_ffn.norm."},
                                   {axis + "mlp1.", line + "out_ffn.fn.linear_pre.0."},
                                   {axis + "mlp2.", line + "out_ffn.fn.linears.0.0."},
                                   {axis + "mlp3.", line + "out_ffn.fn.linear_post."}});
  }
  return renamed(name, renames);
}

// On one axis theirs is plain attention.
std::string theirs_on_a_line(const std::string& name) { return renamed(theirs(name), {{"attn_x.", ""}}); }

TEST(FactFormer, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "Factformer_structured_2D", .model = "factformer", .theirs = theirs});
  expect_parity({.file = "Factformer_large_weights_structured_2D", .model = "factformer", .theirs = theirs});
  expect_parity({.file = "Factformer_large_weights_structured_3D", .model = "factformer", .theirs = theirs});
  expect_parity({.file = "Factformer_large_weights_structured_1D", .model = "factformer", .theirs = theirs_on_a_line});
}

TEST(FactFormer, ParameterCounts) { EXPECT_EQ(standard_count("factformer", on_mesh({85, 85})), 1767041); }

}  // namespace
}  // namespace lano::factformer_test
