#include "libtorch/baseline_cases.h"
#include "spectral_cases.h"

namespace lano::fno_test {
namespace {

using namespace test;

TEST(Fno, GivesTheNumbersOfAPublicImplementation) {
  expect_parity({.file = "FNO_structured_2D", .model = "fno", .theirs = theirs_of_fourier_layers});
  expect_parity({.file = "FNO_unstructured", .model = "fno", .theirs = theirs_of_fourier_layers});
}

TEST(Fno, CountsComplexWeightsOnce) {
  EXPECT_EQ(parameter_count(*standard("fno", darcy())), 18990977);
  EXPECT_EQ(parameter_count(*standard("fno", elasticity())), 28491907);
}

TEST(Fno, WorksOnItsGeometries) { expect_works_everywhere("fno"); }

// A trainer keeps all weights in one buffer, where a pair may begin at an odd place.
TEST(Fno, TakesWeightsAtAnyPlaceOfABuffer) {
  const LanoShape shape = shape_of({8, 8}, 0, 2);
  const auto model = make_model(to_json(tiny_baseline("fno"), shape), 5);
  const Batch batch = batch_for(shape, 1);
  const torch::NoGradGuard no_grad;
  const torch::Tensor before = model->forward(batch);
  for (torch::Tensor& parameter : model->parameters()) {
    torch::Tensor place = torch::empty({parameter.numel() + 1}).narrow(0, 1, parameter.numel()).view(parameter.sizes());
    place.copy_(parameter);
    parameter.set_data(place);
  }
  EXPECT_TRUE(torch::equal(model->forward(batch), before));
}

// The model once more, over its weights: the field with zeros behind it up to n1 x n2 points, four layers there, and
// the first points of it.
torch::Tensor by_hand(const OperatorModel& model, const Batch& batch, std::int64_t n1, std::int64_t n2) {
  const ByHand hand(model);
  const std::int64_t rows = batch.mesh[0], columns = batch.mesh[1];
  const torch::Tensor field = hand.encoder(batch).unflatten(1, {rows, columns}).permute({0, 3, 1, 2});
  torch::Tensor f = torch::zeros({field.size(0), field.size(1), n1, n2}, field.options());
  f.narrow(2, 0, rows).narrow(3, 0, columns).copy_(field);
  for (int l = 0; l < 4; ++l) {
    const std::string layer = "layers." + std::to_string(l) + ".";
    const torch::Tensor spectrum = torch::fft::rfft2(f);
    torch::Tensor mixed = torch::zeros_like(spectrum);
    for (const int block : {1, 2}) {  // frequencies 0 .. m-1 and -m .. -1 along the first axis
      const torch::Tensor weight = torch::view_as_complex(hand[layer + "spectral.complex" + std::to_string(block)]);
      const std::int64_t m = weight.size(2), first = block == 1 ? 0 : n1 - m;
      mixed.narrow(2, first, m)
          .narrow(3, 0, m)
          .copy_(torch::einsum("bixy,ioxy->boxy", {spectrum.narrow(2, first, m).narrow(3, 0, m), weight}));
    }
    const torch::Tensor local = torch::einsum("bixy,oi->boxy", {f, hand[layer + "local.weight"].flatten(1)}) +
                                hand[layer + "local.bias"].view({-1, 1, 1});
    f = torch::fft::irfft2(mixed, at::IntArrayRef({n1, n2})) + local;
    if (l < 3) f = torch::gelu(f);
  }
  const torch::Tensor points = f.narrow(2, 0, rows).narrow(3, 0, columns).permute({0, 2, 3, 1}).flatten(1, 2);
  return hand.mlp(points, "decoder1", "decoder2");
}

// Zeros behind the field, not a periodic continuation, in every layer's view.
TEST(Fno, PadsEachAxisToAMultipleOfSixteen) {
  const torch::NoGradGuard no_grad;
  const LanoShape shape = on_mesh({9, 21});
  const auto model = double_model(tiny_baseline("fno"), shape);
  const Batch batch = batch_of(shape, 2);
  const torch::Tensor out = model->forward(batch);
  EXPECT_LT(relative_difference(out, by_hand(*model, batch, 16, 32)), 1e-10);
  EXPECT_GT(relative_difference(out, by_hand(*model, batch, 9, 21)), 1e-4);
  EXPECT_GT(relative_difference(out, by_hand(*model, batch, 32, 32)), 1e-4);
}

}  // namespace
}  // namespace lano::fno_test
