// The fused engine against the composite path: in double it is the truth, in float the measure of what rounding costs.
#include <gtest/gtest.h>

#include "core/threads.h"
#include "libtorch/plain_batches.h"
#include "scratch.h"

namespace lano::fused_lano_test {
namespace {

using namespace test;

struct Pass {
  torch::Tensor output, dinput;
  std::vector<std::pair<std::string, torch::Tensor>> gradients;
};

Batch in_float(Batch batch) {
  batch.coordinates = batch.coordinates.to(torch::kFloat32);
  batch.input = batch.input.to(torch::kFloat32);
  return batch;
}

// Forward and backward of <output, probe>; the input asks for its gradient too.
Pass run(OperatorModel& model, Batch batch, const torch::Tensor& probe) {
  model.zero_grad();
  batch.input = batch.input.detach().clone().set_requires_grad(true);
  Pass pass;
  pass.output = model.forward(batch);
  (pass.output * probe.to(pass.output.dtype())).sum().backward();
  pass.output = pass.output.detach();
  pass.dinput = batch.input.grad();
  for (const auto& item : model.named_parameters()) {
    pass.gradients.emplace_back(
        item.key(), item.value().grad().defined() ? item.value().grad().clone() : torch::zeros_like(item.value()));
  }
  return pass;
}

// The same by the fused engine, with the model's weights.
Pass run_fused(LanoTrainable& lano, const OperatorModel& model, const Batch& batch, const torch::Tensor& probe) {
  copy_weights_to(lano, model);
  const std::int64_t inputs = batch.input.size(2);
  FieldBatch fields = plain(batch);
  std::vector<float> state;
  if (fields.input.size() != 0 && model.architecture().value("task", "") == "autoregressive") {  // its last channels
    const std::int64_t states = probe.size(2);
    state = plain(batch.input.narrow(2, inputs - states, states));
    fields.input = plain(batch.input.narrow(2, 0, inputs - states));
  }
  std::vector<float> slopes;
  Pass pass;
  pass.output = torch::tensor(lano.pass(fields, state, plain(probe), &slopes)).view_as(probe);
  const torch::Tensor all = torch::tensor(slopes).view({batch.input.size(0), batch.input.size(1), -1});
  pass.dinput = all.narrow(2, all.size(2) - inputs, inputs);
  std::int64_t at = 0;
  const torch::Tensor flat = torch::tensor(std::vector<float>(lano.gradients().begin(), lano.gradients().end()));
  for (const auto& item : model.named_parameters()) {
    pass.gradients.emplace_back(item.key(), flat.narrow(0, at, item.value().numel()).view(item.value().sizes()));
    at += item.value().numel();
  }
  const torch::Tensor predicted = torch::tensor(lano.pass(fields, state, {})).view_as(probe);
  EXPECT_LT(((predicted - pass.output).norm() / (pass.output.norm() + 1e-30)).item<double>(), 1e-6)
      << "predicted, not recorded";
  return pass;
}

double distance(const torch::Tensor& x, const torch::Tensor& truth) {
  return truth.numel() == 0
             ? 0
             : (x.to(torch::kFloat64) - truth).norm().item<double>() / (truth.norm().item<double>() + 1e-30);
}

// Errors of a pass against the truth, tensor by tensor, relative to its size; tensors that are small compared with the
// largest gradient (sums that cancel) count against a hundredth of that: the biases of a softmax have gradients that
// are exact zeros in part, and the difference of two roundings there is no digit lost.
class Errors {
 public:
  void add(const torch::Tensor& value, const torch::Tensor& truth, double largest, const std::string& what) {
    if (truth.numel() == 0) return;
    ASSERT_TRUE(value.defined()) << what;
    ASSERT_TRUE(torch::isfinite(value).all().item<bool>()) << what;
    const double size = std::max(truth.norm().item<double>(), 1e-2 * largest);
    each_.emplace_back(what, (value.to(torch::kFloat64) - truth).norm().item<double>() / (size + 1e-30));
  }
  double together() const {  // root mean square
    double sum = 0;
    for (const auto& [what, error] : each_) sum += error * error;
    return std::sqrt(sum / static_cast<double>(each_.size()));
  }
  const std::vector<std::pair<std::string, double>>& each() const { return each_; }

 private:
  std::vector<std::pair<std::string, double>> each_;
};

void compare(OperatorModel& model, const Batch& batch, std::int64_t agents = 0, double scale_of_weights = 0.5) {
  {
    const torch::NoGradGuard no_grad;
    torch::manual_seed(5);
    // Rounded to float, so that all three see the same weights.
    for (auto& p : model.parameters()) p.copy_((scale_of_weights * torch::randn_like(p) + 0.2 * p).to(torch::kFloat32));
  }
  Batch rounded = in_float(batch);
  Batch exact = batch;
  exact.coordinates = rounded.coordinates.to(torch::kFloat64);
  exact.input = rounded.input.to(torch::kFloat64);
  model.to(torch::kFloat64);
  torch::Tensor probe;
  {
    const torch::NoGradGuard no_grad;
    probe = torch::randn_like(model.forward(exact)).to(torch::kFloat32);
  }
  const Pass truth = run(model, exact, probe);
  model.to(torch::kFloat32);
  const Pass plain = run(model, rounded, probe);
  const auto lano = trainable_for(model.architecture());
  if (agents > 0) lano->use_agents(agents);
  const Pass fused = run_fused(*lano, model, rounded, probe);
  double largest = 0;
  for (const auto& [name, gradient] : truth.gradients) largest = std::max(largest, gradient.norm().item<double>());
  Errors mine, theirs;
  const auto judge = [&](const torch::Tensor& ours, const torch::Tensor& other, const torch::Tensor& exact_one,
                         double scale, const std::string& what) {
    mine.add(ours, exact_one, scale, what);
    theirs.add(other, exact_one, scale, what);
  };
  judge(fused.output, plain.output, truth.output, 0, "output");
  judge(fused.dinput, plain.dinput, truth.dinput, largest, "input");
  for (std::size_t i = 0; i < truth.gradients.size(); ++i) {
    judge(fused.gradients[i].second, plain.gradients[i].second, truth.gradients[i].second, largest,
          truth.gradients[i].first);
  }
  // Rounding is random in each tensor, but not in all together: there the error is at most twice that of the plain
  // float path.
  EXPECT_LE(mine.together(), 2 * theirs.together() + 1e-7);
  for (std::size_t i = 0; i < mine.each().size(); ++i) {
    const auto& [what, error] = mine.each()[i];
    EXPECT_LE(error, 4 * theirs.each()[i].second + 6 * theirs.together() + 3e-7)
        << what << ", plain float " << theirs.each()[i].second;
  }
  if (std::getenv("SHOW") != nullptr)
    std::printf("error %.2e, plain float %.2e, ratio %.2f\n", mine.together(), theirs.together(),
                mine.together() / theirs.together());
}

class Fused : public testing::TestWithParam<Case> {};

TEST_P(Fused, AgreesWithTheCompositePath) {
  const Case& c = GetParam();
  torch::manual_seed(3);
  compare(*model_for(c.config, c.set), random_batch(c, 3));
}

// Widths off the vector length, many tiles and units, several head sizes.
std::vector<Case> larger_cases() {
  std::vector<Case> all = cases();
  const auto add = [&](const std::string& name, std::int64_t width, std::int64_t heads, std::int64_t agents,
                       const SetDescription& set, auto change) {
    LanoConfig c;
    c.layers = 2;
    c.width = width;
    c.heads = heads;
    c.agents = agents;
    change(c);
    all.push_back({name, c, set});
  };
  const auto nothing = [](LanoConfig&) {};
  add("wide_grid", 48, 2, 16, described(Geometry::grid, {43, 31}, 2, 1, 1), nothing);
  add("odd_width", 30, 3, 35, described(Geometry::mesh, {29, 37}, 2, 2, 3), nothing);
  add("paper_heads", 128, 8, 64, described(Geometry::points, {972}, 2, 0, 1), nothing);
  add("many_agents", 32, 2, 130, described(Geometry::grid, {40, 39}, 2, 1, 1), nothing);
  add("deep_head", 80, 1, 12, described(Geometry::grid, {20, 21}, 2, 1, 1), nothing);
  add("three_axes", 20, 2, 27, described(Geometry::grid, {9, 10, 11}, 3, 1, 2), nothing);
  add("long_line", 32, 4, 16, described(Geometry::grid, {701}, 1, 1, 1), nothing);
  add("ratio_three", 24, 2, 9, described(Geometry::grid, {17, 19}, 2, 1, 1), [](LanoConfig& c) { c.ffn_ratio = 3; });
  add("everything_else", 24, 2, 9, described(Geometry::grid, {17, 19}, 2, 1, 1), [](LanoConfig& c) {
    c.bias = Bias::sum;
    c.decoder = Decoder::mlp;
    c.pool = Pool::sequence;
    c.position = Position::reference;
  });
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, Fused, testing::ValuesIn(larger_cases()),
                         [](const testing::TestParamInfo<Case>& each) { return each.param.name; });

TEST(FusedLano, OtherResolutions) {
  const auto set = described(Geometry::grid, {12, 10}, 2, 1, 1);
  LanoConfig config = tiny();
  const auto model = make_model(to_json(config, lano_shape(config, set, {0.2, 0.25})), 1);
  struct Other {
    Shape mesh;
    std::vector<double> spacing, origin;
  };
  for (const Other& other :
       {Other{{23, 19}, {0.1, 0.125}, {0, 0}}, Other{{18, 14}, {0.125, 0.2}, {0, 0}}, Other{{7, 6}, {0.4, 0.5}, {0, 0}},
        Other{{12, 18}, {0.2, 0.125}, {0, 0}}, Other{{24, 20}, {0.1, 0.125}, {0.06, -0.125}}}) {
    SCOPED_TRACE(shape_text(other.mesh));
    Case c{"other", config, set};
    c.set.shape = other.mesh;
    Batch batch = random_batch(c, 2);
    batch.spacing = other.spacing;
    batch.origin = other.origin;
    compare(*model, batch);
  }
}

TEST(FusedLano, OtherAgents) {
  LanoConfig config = tiny();
  config.agents = 6;
  const auto set = described(Geometry::grid, {19, 18}, 2, 1, 1);
  for (const Pool pool : {Pool::grid, Pool::sequence}) {
    config.pool = pool;
    const auto model = model_for(config, set);
    for (const std::int64_t agents : {12, 4, 30, 1}) {
      SCOPED_TRACE(agents);
      model->use_agents(agents);
      compare(*model, random_batch({"grid", config, set}, 2), agents);
    }
  }
}

TEST(FusedLano, PackedClouds) {
  LanoConfig config = tiny();
  config.task = Task::time_conditional;
  auto set = described(Geometry::points, {100}, 2, 1, 2);
  set.time = {0, 1};
  Case all{"all", config, set};
  all.set.shape = {100 + 3 + 1 + 417};
  Batch packed = random_batch(all, 1);
  packed.counts = {100, 3, 1, 417};
  packed.time = torch::rand({4}, torch::kFloat64);
  compare(*model_for(config, set), packed);
}

TEST(FusedLano, PackedCloudsWithOtherAgents) {
  LanoConfig config = tiny();
  const auto set = described(Geometry::points, {100}, 2, 1, 2);
  Case all{"all", config, set};
  all.set.shape = {40 + 5 + 250};
  Batch packed = random_batch(all, 1);
  packed.counts = {40, 5, 250};
  const auto model = model_for(config, set);
  model->use_agents(7);
  compare(*model, packed, 7);
}

TEST(FusedLano, OtherResolutionsOfLinesAndSpace) {
  for (const auto& [trained, asked] : {std::pair(Shape{20}, Shape{33}), std::pair(Shape{5, 6, 4}, Shape{9, 7, 8})}) {
    LanoConfig config = tiny();
    config.agents = trained.size() == 1 ? 4 : 8;
    const auto set = described(Geometry::mesh, trained, trained.size(), 1, 1);
    Case c{"other", config, set};
    c.set.shape = asked;
    compare(*model_for(config, set), random_batch(c, 2));
  }
}

// More units than groups: many small samples share a group's sums.
TEST(FusedLano, ManySmallSamples) {
  const auto set = described(Geometry::grid, {6, 7}, 2, 1, 1);
  compare(*model_for(tiny(), set), random_batch({"grid", tiny(), set}, 170));
}

TEST(FusedLano, RefusesWhatDoesNotFit) {
  const auto set = described(Geometry::grid, {6, 7}, 2, 1, 1);
  const auto lano = trainable_for(to_json(tiny(), lano_shape(tiny(), set)));
  FieldBatch batch = plain(random_batch({"grid", tiny(), set}, 2));
  batch.mesh = {6, 8};
  EXPECT_ERROR_WITH(lano->pass(batch, {}, {}), "points of a mesh");
  batch.mesh = {42};
  EXPECT_ERROR_WITH(lano->pass(batch, {}, {}), "2 axes");
  batch.mesh = {6, 7};
  batch.input.resize(2 * 42 * 2);
  EXPECT_ERROR_WITH(lano->pass(batch, {}, {}), "1 input channels per point");
}

// Logits of the order of 1e4: probabilities are zeros and ones, nothing overflows, and both paths pick the same agents.
TEST(FusedLano, ExtremeLogits) {
  LanoConfig config = tiny();
  config.layers = 1;
  const auto set = described(Geometry::grid, {13, 11}, 2, 1, 1);
  const auto model = model_for(config, set);
  const Batch batch = in_float(random_batch({"grid", config, set}, 2));
  const torch::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    if (item.key().ends_with("qkv.weight")) item.value().copy_(60 * torch::randn_like(item.value()));
  }
  const auto lano = trainable_for(model->architecture());
  copy_weights_to(*lano, *model);
  const torch::Tensor fused = torch::tensor(lano->pass(plain(batch), {}, {})).view({2, 13 * 11, 1});
  model->to(torch::kFloat64);
  Batch exact = batch;
  exact.coordinates = batch.coordinates.to(torch::kFloat64);
  exact.input = batch.input.to(torch::kFloat64);
  ASSERT_TRUE(torch::isfinite(fused).all().item<bool>());
  EXPECT_LT(distance(fused, model->forward(exact)), 2e-3);  // a rounding of 1e-7 of a logit of 1e4
}

// The same bits for any number of threads.
TEST(FusedLano, ThreadsDoNotChangeABit) {
  LanoConfig config;
  config.layers = 2;
  config.width = 32;
  config.heads = 4;
  config.agents = 16;
  const auto set = described(Geometry::grid, {61, 53}, 2, 1, 2);
  const auto model = model_for(config, set);
  const Batch batch = in_float(random_batch({"grid", config, set}, 3));
  const torch::Tensor probe = torch::randn({3, 61 * 53, 2});
  const int before = thread_count();
  const auto lano = trainable_for(model->architecture());
  std::vector<Pass> passes;
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    passes.push_back(run_fused(*lano, *model, batch, probe));
  }
  set_thread_count(before);
  for (std::size_t t = 1; t < passes.size(); ++t) {
    EXPECT_TRUE(torch::equal(passes[0].output, passes[t].output));
    EXPECT_TRUE(torch::equal(passes[0].dinput, passes[t].dinput));
    for (std::size_t i = 0; i < passes[0].gradients.size(); ++i) {
      EXPECT_TRUE(torch::equal(passes[0].gradients[i].second, passes[t].gradients[i].second))
          << passes[0].gradients[i].first;
    }
  }
}

TEST(FusedLano, BeginsWithTheWeightsOfTheComposite) {
  for (const Case& c : cases()) {
    TrainConfig recipe;
    recipe.seed = 6;
    const auto lano = trainable_for(to_json(c.config, lano_shape(c.config, c.set)), recipe);
    const std::vector<float> mine(lano->values().begin(), lano->values().end());
    copy_weights_to(*lano, *model_for(c.config, c.set, 6));
    EXPECT_EQ(mine, std::vector<float>(lano->values().begin(), lano->values().end())) << c.name;
  }
}

}  // namespace
}  // namespace lano::fused_lano_test
