#include "libtorch/baseline_cases.h"
#include "libtorch/multiwavelet_filters.h"
#include "spectral_cases.h"

namespace lano::wmt_test {
namespace {

using namespace test;

std::string theirs(const std::string& name) {
  return renamed(theirs_of_the_frame(name), {{"layers.", "spectral_layers."},
                                             {".a.spectral.", ".A."},
                                             {".a.linear.", ".A.Lo."},
                                             {".b.conv.", ".B.conv.0."},
                                             {".b.linear.", ".B.Lo."},
                                             {".c.conv.", ".C.conv.0."},
                                             {".c.linear.", ".C.Lo."},
                                             {".coarsest.", ".T0."}});
}

// Its filters are kept with the weights there; ours follow from their definition and are compared below.
const std::set<std::string> kFilters{"spectral_layers.0.ec_s",  "spectral_layers.0.ec_d",  "spectral_layers.0.rc_ee",
                                     "spectral_layers.0.rc_eo", "spectral_layers.0.rc_oe", "spectral_layers.0.rc_oo",
                                     "spectral_layers.1.ec_s",  "spectral_layers.1.ec_d",  "spectral_layers.1.rc_ee",
                                     "spectral_layers.1.rc_eo", "spectral_layers.1.rc_oe", "spectral_layers.1.rc_oo"};

TEST(MultiwaveletOperator, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "MWT_structured_2D", .model = "wmt", .theirs = theirs, .unused = kFilters});
  expect_parity({.file = "MWT_unstructured", .model = "wmt", .theirs = theirs, .unused = kFilters});
}

TEST(MultiwaveletFilters, AreThoseOfAPublicImplementation) {
  const TensorFile file = read_safetensors(std::string(LANO_TEST_FILES) + "/../parity/MWT_structured_2D.safetensors");
  const MultiwaveletFilters f = multiwavelet_filters(3);
  const auto expect_near = [&](const std::string& name, const torch::Tensor& ours) {
    EXPECT_LT((ours - as_torch(file.tensors.at("w/spectral_layers.0." + name))).abs().max().item<double>(), 1e-6)
        << name;
  };
  using torch::kron;
  expect_near("ec_s",
              torch::cat({kron(f.h0, f.h0).t(), kron(f.h0, f.h1).t(), kron(f.h1, f.h0).t(), kron(f.h1, f.h1).t()}));
  expect_near("ec_d",
              torch::cat({kron(f.g0, f.g0).t(), kron(f.g0, f.g1).t(), kron(f.g1, f.g0).t(), kron(f.g1, f.g1).t()}));
  expect_near("rc_eo", torch::cat({kron(f.h0, f.h1), kron(f.g0, f.g1)}));
}

TEST(MultiwaveletFilters, AreAnOrthogonalChangeOfBasis) {
  for (std::int64_t k = 1; k <= 8; ++k) {
    const MultiwaveletFilters f = multiwavelet_filters(k);
    const torch::Tensor all = torch::cat({torch::cat({f.h0, f.h1}, 1), torch::cat({f.g0, f.g1}, 1)});
    EXPECT_LT((all.matmul(all.t()) - torch::eye(2 * k, torch::kFloat64)).abs().max().item<double>(), 1e-12) << k;
    // Wavelets have no part along polynomials of degree < k: the constant, in the basis of the halves, is seen by h
    // alone.
    torch::Tensor constant = torch::zeros({2 * k}, torch::kFloat64);
    constant[0] = constant[k] = std::sqrt(0.5);
    EXPECT_LT((all.matmul(constant) - torch::eye(2 * k, torch::kFloat64)[0]).abs().max().item<double>(), 1e-12) << k;
  }
}

// The public implementation's.
TEST(MultiwaveletOperator, ParameterCounts) {
  EXPECT_EQ(parameter_count(*standard("wmt", darcy())), 24618);
  EXPECT_EQ(parameter_count(*standard("wmt", elasticity())), 135020);
}

// With nothing but the identity at the coarsest scale a layer is the projection onto polynomials of degree < 3 along
// the halved axes, which leaves linear functions alone. On cells of width h the function x has the coefficients
// (centre, h / (2 sqrt3), 0).
TEST(MultiwaveletOperator, LeavesLinearFunctionsAlone) {
  const torch::NoGradGuard no_grad;
  for (const Shape& mesh : {Shape{8}, Shape{8, 8}, Shape{8, 8, 5}}) {
    const auto axes = static_cast<std::int64_t>(mesh.size());
    BaselineConfig config = tiny_baseline("wmt");
    config.layers = 1;
    const LanoShape shape = shape_of(mesh, 0, axes, 0, 1);
    const auto model = make_model(to_json(config, shape), 5);
    auto weights = model->named_parameters();
    for (auto& item : weights) item.value().zero_();
    std::vector<torch::Tensor> centres;
    for (const std::int64_t n : mesh)
      centres.push_back((torch::arange(n, torch::kFloat32) + 0.5) / static_cast<double>(n));
    Batch batch = batch_for(shape, 1);
    std::vector<torch::Tensor> places;
    for (const torch::Tensor& x : torch::meshgrid(centres, "ij")) places.push_back(x.flatten());
    batch.coordinates = torch::stack(places, -1).unsqueeze(0);
    // u = x + 2y + 3z, with 10 added while it passes through GELU, which is the identity there.
    const torch::Tensor slopes = torch::tensor({1.0f, 2.0f, 3.0f}).narrow(0, 0, axes);
    weights["encoder1.weight"][0].copy_(slopes);
    weights["encoder1.bias"][0] = 10;
    weights["encoder2.weight"][0][0] = 1;
    for (std::int64_t a = 0; a < std::min<std::int64_t>(axes, 2); ++a) {
      weights["encoder2.bias"][axes > 1 && a == 0 ? 3 : 1] = static_cast<double>(a + 1) / 8 / (2 * std::sqrt(3.0));
    }
    weights["layers.0.coarsest.weight"].copy_(torch::eye(axes == 1 ? 3 : 9));
    weights["decoder1.weight"][0][0] = 1;
    weights["decoder2.weight"][0][0] = 1;
    weights["decoder2.bias"][0] = -10;
    const torch::Tensor expected = torch::matmul(batch.coordinates, slopes);
    EXPECT_LT((model->forward(batch).squeeze(-1) - expected).abs().max().item<float>(), 1e-5) << axes << " axes";
  }
}

// With an encoder that takes zero to zero, zeros of the image are zeros of the fields: 5 x 9 points answer as the
// corner of 16 x 16.
TEST(MultiwaveletOperator, PadsBothAxesToOnePowerOfTwo) {
  const torch::NoGradGuard no_grad;
  const LanoShape shape = on_mesh({5, 9});
  const auto model = double_model(tiny_baseline("wmt"), shape);
  for (const char* const bias : {"encoder1.bias", "encoder2.bias"}) model->named_parameters()[bias].zero_();
  const Batch batch = batch_of(shape, 2);
  const auto corner_of = [&](std::int64_t side) {
    const auto filled = [&](const torch::Tensor& fields) {
      torch::Tensor all = torch::zeros({2, side, side, fields.size(2)}, torch::kFloat64);
      all.narrow(1, 0, 5).narrow(2, 0, 9).copy_(fields.unflatten(1, {5, 9}));
      return all.flatten(1, 2);
    };
    Batch larger = batch;
    larger.coordinates = filled(batch.coordinates);
    larger.input = filled(batch.input);
    larger.mesh = {side, side};
    return model->forward(larger).unflatten(1, {side, side}).narrow(1, 0, 5).narrow(2, 0, 9).flatten(1, 2);
  };
  const torch::Tensor out = model->forward(batch);
  EXPECT_LT(relative_difference(out, corner_of(16)), 1e-10);
  EXPECT_GT(relative_difference(out, corner_of(32)), 1e-6);
}

TEST(MultiwaveletOperator, WorksOnItsGeometries) { expect_works_everywhere("wmt"); }

}  // namespace
}  // namespace lano::wmt_test
