// What all transformers of the registry must show, each at a small size and on its geometries.
#include <algorithm>

#include "libtorch/baseline_cases.h"
#include "scratch.h"

namespace lano::transformers_test {
namespace {

using namespace test;

struct Transformer {
  std::string label;
  BaselineConfig config;
  LanoShape shape;
  bool means = true;  // points enter by means alone, so that each may come twice
};

void PrintTo(const Transformer& c, std::ostream* out) { *out << c.label; }

std::vector<Transformer> transformers() {
  std::vector<Transformer> all;
  for (const char* const name : {"galerkin", "oformer", "gnot", "ono", "transolver", "softmax", "ano"}) {
    all.push_back({std::string(name) + "_cloud", small_config(name), on_cloud(9),
                   std::string(name) != "ono" && std::string(name) != "transolver"});
  }
  for (const char* const name : {"galerkin", "oformer"}) {
    all.push_back({std::string(name) + "_fourier", small_config(name), on_cloud(9)});
    all.back().config.attention = LinearAttentionKind::fourier;
  }
  for (const char* const name : {"gnot", "factformer", "ht-net"})
    all.push_back({std::string(name) + "_mesh", small_config(name), on_mesh({5, 6})});
  all.push_back({"factformer_line", small_config("factformer"), on_mesh({7})});
  all.push_back({"factformer_space", small_config("factformer"), on_mesh({2, 4, 3})});
  all.push_back({"no_input", small_config("gnot"), on_cloud(8, 0)});
  for (Transformer& c : all) std::replace(c.label.begin(), c.label.end(), '-', '_');
  return all;
}

class Transformers : public testing::TestWithParam<Transformer> {};

TEST_P(Transformers, GradientsAgreeWithFiniteDifferences) {
  const auto& [label, config, shape, means] = GetParam();
  const auto model = double_model(config, shape);
  expect_gradients(*model, batch_of(shape, 2));
  model->train();  // no dropout; ONO factors the batch's covariance
  model->zero_grad();
  expect_gradients(*model, batch_of(shape, 2));
}

TEST_P(Transformers, KnowsTime) {
  auto [label, config, shape, means] = GetParam();
  config.task = Task::time_conditional;
  const auto model = double_model(config, shape);
  Batch batch = batch_of(shape, 2);
  batch.input[1] = batch.input[0];
  batch.coordinates[1] = batch.coordinates[0];
  batch.time = torch::tensor({0.5, 0.5}, torch::kFloat64);
  torch::Tensor out = model->forward(batch).detach();
  EXPECT_LT(largest_difference(out[0], out[1]), 1e-12 * (1 + out.abs().max().item<double>()));
  batch.time = torch::tensor({0.5, 2.0}, torch::kFloat64);
  out = model->forward(batch).detach();
  EXPECT_GT(largest_difference(out[0], out[1]), 1e-3);
}

TEST_P(Transformers, PermutedPointsPermuteTheOutput) {
  const auto& [label, config, shape, means] = GetParam();
  if (shape.axes > 0) GTEST_SKIP() << "a mesh has an order";
  const auto model = double_model(config, shape);
  Batch batch = batch_of(shape, 2);
  const torch::Tensor out = model->forward(batch).detach(), order = torch::randperm(shape.points);
  batch.coordinates = batch.coordinates.index_select(1, order);
  batch.input = batch.input.index_select(1, order);
  EXPECT_LT(largest_difference(model->forward(batch).detach(), out.index_select(1, order)),
            1e-10 * (1 + out.abs().max().item<double>()));
}

// Another number of points than trained, and the same field: every point twice.
TEST_P(Transformers, PointsTwiceChangeNothing) {
  const auto& [label, config, shape, means] = GetParam();
  if (shape.axes > 0 || !means)
    GTEST_SKIP() << "on a mesh points have neighbours; ONO sums over the points, Transolver divides by 1e-5 + a sum";
  const auto model = double_model(config, shape);
  Batch batch = batch_of(shape, 2);
  const torch::Tensor out = model->forward(batch).detach();
  batch.coordinates = batch.coordinates.repeat({1, 2, 1});
  batch.input = batch.input.repeat({1, 2, 1});
  EXPECT_LT(largest_difference(model->forward(batch).detach(), out.repeat({1, 2, 1})),
            1e-10 * (1 + out.abs().max().item<double>()));
}

TEST_P(Transformers, TakesOtherMeshes) {
  const auto& [label, config, shape, means] = GetParam();
  if (shape.axes == 0) GTEST_SKIP() << "a cloud";
  const auto model = double_model(config, shape);
  for (const std::int64_t more : {1, 4}) {
    Shape mesh = shape.mesh;
    for (std::int64_t& side : mesh) side += more;
    const torch::Tensor out = model->forward(batch_of(shape, 2, mesh)).detach();
    EXPECT_EQ(out.sizes(), (std::vector<std::int64_t>{2, element_count(mesh), 1}));
    EXPECT_TRUE(torch::isfinite(out).all().item<bool>());
  }
}

TEST_P(Transformers, PackedCloudsEqualOneByOne) {
  auto [label, config, shape, means] = GetParam();
  if (shape.axes > 0) GTEST_SKIP() << "a mesh";
  config.task = Task::time_conditional;
  const auto model = double_model(config, shape);
  Batch before = batch_of(shape, 1);
  before.time = torch::ones({1}, torch::kFloat64);
  model->train();
  model->forward(before);  // ONO keeps a covariance
  model->eval();
  Batch packed = batch_of(shape, 1, {}, 14);
  packed.counts = {9, 1, 4};
  packed.time = torch::tensor({0.0, 1.0, 2.5}, torch::kFloat64);
  const torch::Tensor out = model->forward(packed).detach();
  std::int64_t first = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    Batch single;
    single.coordinates = packed.coordinates.narrow(1, first, packed.counts[i]);
    single.input = packed.input.narrow(1, first, packed.counts[i]);
    single.time = packed.time.narrow(0, static_cast<std::int64_t>(i), 1);
    const torch::Tensor own = out.narrow(1, first, packed.counts[i]);
    EXPECT_LT(largest_difference(model->forward(single).detach(), own), 1e-11 * (1 + out.abs().max().item<double>()));
    first += packed.counts[i];
  }
}

TEST_P(Transformers, IsMadeAgainFromItsArchitecture) {
  const auto& [label, config, shape, means] = GetParam();
  const auto model = make_model(to_json(config, shape), 5), again = make_model(model->architecture(), 5);
  EXPECT_EQ(model->architecture(), again->architecture());
  ASSERT_EQ(model->parameters().size(), again->parameters().size());
  for (std::size_t i = 0; i < model->parameters().size(); ++i) {
    EXPECT_EQ(model->parameters()[i].scalar_type(), torch::kFloat32);
    EXPECT_TRUE(torch::equal(model->parameters()[i], again->parameters()[i]));
  }
  for (const torch::Tensor& buffer : model->buffers()) EXPECT_EQ(buffer.scalar_type(), torch::kFloat32);
}

TEST_P(Transformers, DropoutActsInTrainingOnly) {
  auto [label, config, shape, means] = GetParam();
  config.dropout = 0.4;
  const auto model = double_model(config, shape);
  const Batch batch = batch_of(shape, 1);
  const torch::Tensor still = model->forward(batch).detach();
  EXPECT_TRUE(torch::equal(still, model->forward(batch).detach()));
  model->train();
  EXPECT_FALSE(torch::equal(model->forward(batch).detach(), model->forward(batch).detach()));
}

INSTANTIATE_TEST_SUITE_P(All, Transformers, testing::ValuesIn(transformers()),
                         [](const testing::TestParamInfo<Transformer>& each) { return each.param.label; });

TEST(TransformerGeometries, ModelsForMeshesRefuseOthers) {
  EXPECT_ERROR_WITH(make_model(to_json(small_config("factformer"), on_cloud(9)), 1),
                    "a grid or mesh of one to three axes, found a point cloud");
  EXPECT_ERROR_WITH(make_model(to_json(small_config("ht-net"), on_cloud(9)), 1),
                    "expected a grid or mesh of two axes, found a point cloud");
  EXPECT_ERROR_WITH(make_model(to_json(small_config("ht-net"), on_mesh({7})), 1), "found a grid or mesh of 1 axis;");
  EXPECT_ERROR_WITH(make_model(to_json(small_config("ht-net"), on_mesh({7, 3, 3})), 1),
                    "found a grid or mesh of 3 axes;");
}

}  // namespace
}  // namespace lano::transformers_test
