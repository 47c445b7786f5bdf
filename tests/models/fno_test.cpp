#include "spectral_cases.h"

namespace lano {
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
  const auto model = make_model(to_json(tiny("fno"), shape), 5);
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

// Zeros behind the field, not a periodic continuation: the padded part is cut off, and nothing is asked of a mesh but its own points.
TEST(Fno, PadsEachAxisToAMultipleOfSixteen) {
  BaselineConfig config = tiny("fno");
  const auto model = make_model(to_json(config, shape_of({16, 16}, 0, 2)), 5);
  // With spectral weights zero a point sees itself alone, on any mesh.
  const torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    if (item.key().find("complex") != std::string::npos) item.value().zero_();
  }
  Batch wide = batch_for(shape_of({16, 20}, 0, 2), 1), narrow = wide;
  narrow.mesh = {20, 16};
  EXPECT_TRUE(torch::allclose(model->forward(wide), model->forward(narrow), 1e-5, 1e-6));
}

}  // namespace
}  // namespace lano
