#include "libtorch/geo_projection.h"
#include "spectral_cases.h"

namespace lano::geo_fno_test {
namespace {

using namespace test;

// On clouds it is what the public library calls FNO there, whose numbers fno_test.cpp holds.
TEST(GeoFno, IsTheFnoOfCloudsOnEveryGeometry) {
  BaselineConfig config = tiny_baseline("geo-fno");
  const LanoShape mesh = shape_of({5, 6}, 0, 2), cloud = shape_of({}, 30, 2);
  const auto ours = make_model(to_json(config, mesh), 5);
  config.name = "fno";
  const auto fno = make_model(to_json(config, cloud), 5);
  EXPECT_EQ(parameter_count(*ours), parameter_count(*fno));
  Batch batch = batch_for(mesh, 2);
  const torch::NoGradGuard no_grad;
  const torch::Tensor on_mesh = ours->forward(batch);
  // The axes of the mesh are not used: points in another order get the same values in that order.
  const torch::Tensor order = torch::randperm(30);
  Batch other = batch;
  other.coordinates = batch.coordinates.index_select(1, order);
  other.input = batch.input.index_select(1, order);
  EXPECT_TRUE(torch::allclose(ours->forward(other), on_mesh.index_select(1, order), 1e-4, 1e-6));
  batch.mesh = {};
  EXPECT_TRUE(torch::equal(fno->forward(batch), on_mesh));
}

TEST(GeoFno, ParameterCounts) {
  EXPECT_EQ(parameter_count(*standard("geo-fno", darcy())), 28491907);
  EXPECT_EQ(parameter_count(*standard("geo-fno", elasticity())), 28491907);
}

TEST(GeoFno, WorksOnItsGeometries) {
  expect_works(tiny_baseline("geo-fno"), shape_of({5, 6}, 0, 2));
  expect_works(tiny_baseline("geo-fno"), shape_of({}, 30, 2));
  EXPECT_ERROR_WITH(make_model(to_json(tiny_baseline("geo-fno"), shape_of({8}, 0, 1)), 1), "1-dimensional points");
}

// Phases are turns of the box of the training points, wherever it lies. The encoder, which takes coordinates as they
// are, is made blind to them.
TEST(GeoProjection, TakesPointsByTheirPlaceInTheBox) {
  const torch::NoGradGuard no_grad;
  for (const char* const name : {"fno", "geo-fno", "f-fno", "u-fno", "u-no", "wmt", "lsm"}) {
    SCOPED_TRACE(name);
    LanoShape shape = shape_of({}, 30, 2);
    const auto answer = [&](const std::vector<double>& box, double scale, double x, double y) {
      shape.reference_box = box;
      const auto model = make_model(to_json(tiny_baseline(name), shape), 5);
      model->to(torch::kFloat64);
      model->eval();
      model->named_parameters()["encoder1.weight"].narrow(1, 0, 2).zero_();
      Batch batch = batch_for(shape, 2);
      batch.coordinates = scale * batch.coordinates.to(torch::kFloat64) + torch::tensor({x, y}, torch::kFloat64);
      batch.input = batch.input.to(torch::kFloat64);
      return model->forward(batch);
    };
    const torch::Tensor plain = answer({}, 1, 0, 0);
    EXPECT_TRUE(torch::equal(answer({0, 1, 0, 1}, 1, 0, 0), plain));
    EXPECT_LT(relative_difference(answer({-39, 1, 3, 43}, 40, -39, 3), plain), 1e-10);
    EXPECT_GT(relative_difference(answer({}, 40, -39, 3), plain), 1e-8);
    EXPECT_TRUE(
        torch::isfinite(answer({0, 1, 3, 3}, 1, 0, 3)).all().item<bool>());  // all points at one height, in training
  }
  LanoShape half = shape_of({}, 30, 2);
  half.reference_box = {0, 1};
  EXPECT_ERROR_WITH(make_model(to_json(tiny_baseline("fno"), half), 5), "two numbers per axis");
}

// Without deformation, with weights one, and at the points of a grid, the way in is a low-pass filter of the field by
// plain FFTs.
TEST(GeoProjection, IsAnOrdinaryTransformOfAGridWithoutDeformation) {
  constexpr std::int64_t kSide = 12, kModes = 3;
  GeoProjection projection(1, kModes);
  projection.to(torch::kFloat64);
  const torch::NoGradGuard no_grad;
  for (auto& item : projection.named_parameters()) {
    if (item.key().find("shift") != std::string::npos) item.value().zero_();
    if (item.key().find("complex") != std::string::npos)
      item.value().copy_(torch::tensor({1.0, 0.0}).expand_as(item.value()));
  }
  const torch::Tensor at = torch::arange(kSide, torch::kFloat64) / static_cast<double>(kSide);
  const auto axes = torch::meshgrid({at, at}, "ij");
  const torch::Tensor x = torch::stack({axes[0].flatten(), axes[1].flatten()}, -1).unsqueeze(0);
  const torch::Tensor field = torch::randn({1, 1, kSide, kSide}, torch::kFloat64);
  torch::Tensor spectrum = torch::fft::rfft2(field);
  spectrum.narrow(2, kModes, kSide - 2 * kModes).zero_();
  spectrum.narrow(3, kModes, kSide / 2 + 1 - kModes).zero_();
  const torch::Tensor filtered = torch::fft::irfft2(spectrum, at::IntArrayRef({kSide, kSide}));
  const torch::Tensor grid = projection.to_grid(field.flatten(2).transpose(1, 2), projection.waves(x), kSide);
  EXPECT_LT((grid - filtered).abs().max().item<double>(), 1e-12);
}

}  // namespace
}  // namespace lano::geo_fno_test
