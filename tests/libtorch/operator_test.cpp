// The runtime without LibTorch against the model in LibTorch calls: every switch, geometry, task and benchmark's
// recipe, and other resolutions.
#include "runtime/operator.h"

#include <cmath>
#include <thread>

#include "core/random.h"
#include "core/threads.h"
#include "evaluate/predictor.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/lano_cases.h"
#include "libtorch/torch_predictor.h"
#include "scratch.h"
#include "train/recipes.h"

namespace lano::operator_test {
namespace {

std::vector<float> uniform(std::size_t size, std::uint64_t seed) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> values(size);
  for (float& value : values) value = static_cast<float>(2 * stream.uniform() - 1);
  return values;
}

ChannelMap some_map(std::int64_t channels) {
  std::vector<double> shift, scale;
  for (std::int64_t c = 0; c < channels; ++c) {
    shift.push_back(0.1 + 0.2 * static_cast<double>(c));
    scale.push_back(1.5 + 0.5 * static_cast<double>(c));
  }
  return {shift, scale};
}

struct Made {
  ModelFile file;
  std::shared_ptr<OperatorModel> model;
};

Made made(const test::Case& c, const std::vector<double>& spacing = {}) {
  Made m;
  m.model =
      make_model(to_json(c.config, lano_shape(c.config, c.set, spacing, std::vector<double>(spacing.size(), 0.0))), 1);
  test::enlarge_weights(*m.model);
  if (c.config.width > 16) {  // sums of many channels: far from linear, but not saturated
    const torch::NoGradGuard no_grad;
    for (auto& p : m.model->parameters()) p.mul_(std::sqrt(8.0 / static_cast<double>(c.config.width)));
  }
  m.file.architecture = m.model->architecture();
  m.file.set = c.set;
  m.file.normaliser = {some_map(c.set.dims()), some_map(c.set.input_channels()), some_map(c.set.output_channels())};
  m.file.weights = copy_weights(*m.model);
  m.model->eval();
  return m;
}

class OperatorOfEveryKind : public ::testing::TestWithParam<test::Case> {};

TEST_P(OperatorOfEveryKind, AnswersAsTheModelInLibTorch) {
  const test::Case& c = GetParam();
  Made m = made(c);
  Samples samples;
  samples.count = 1;
  samples.points = c.set.points();
  samples.frames = c.set.time.empty() ? 1 : static_cast<std::int64_t>(c.set.time.size());
  samples.ids = {0};
  const auto points = static_cast<std::size_t>(samples.points), du = static_cast<std::size_t>(c.set.output_channels());
  samples.coordinates = uniform(points * static_cast<std::size_t>(c.set.dims()), 1);
  samples.input = uniform(points * static_cast<std::size_t>(c.set.input_channels()), 2);
  if (!c.set.time.empty()) samples.output = uniform(points * du * static_cast<std::size_t>(samples.frames), 3);

  const Operator op(m.file);
  EXPECT_EQ(op.task(), c.config.task);
  std::vector<float> found;
  if (c.config.task == Task::steady) {
    found = op.predict(samples.coordinates, samples.input);
  } else if (c.config.task == Task::time_conditional) {
    for (const double time : c.set.time) {
      Operator::Call call;
      call.time = time;
      const auto frame = op.predict(samples.coordinates, samples.input, call);
      found.insert(found.end(), frame.begin(), frame.end());
    }
  } else {
    std::vector<float> state(samples.output.begin(), samples.output.begin() + static_cast<std::ptrdiff_t>(points * du));
    found = state;
    for (std::int64_t step = 1; step < samples.frames; ++step) {
      Operator::Call call;
      call.state = state;
      state = op.predict(samples.coordinates, samples.input, call);
      found.insert(found.end(), state.begin(), state.end());
    }
  }
  // In float32 by LibTorch's own calls: both round, so a few roundings of the largest value apart.
  TorchPredictor composite(m.file, m.model, torch::kCPU);
  const auto wanted = composite.predict(c.set, samples).values;
  ASSERT_EQ(found.size(), wanted.size());
  float largest = 0;
  for (const float value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 2e-5 * largest) << i;
}

INSTANTIATE_TEST_SUITE_P(Lano, OperatorOfEveryKind, ::testing::ValuesIn(test::cases()),
                         [](const auto& each) { return each.param.name; });

// The paper's recipes at two blocks, on small datasets of the benchmarks' kinds.
std::vector<test::Case> paper_recipes() {
  auto forging = test::described(Geometry::mesh, {21, 12}, 2, 1, 4);
  forging.time = {0.0, 0.5, 1.0};
  const std::vector<std::pair<std::string, SetDescription>> sets{
      {"elasticity", test::described(Geometry::points, {200}, 2, 0, 1)},
      {"plasticity", forging},
      {"airfoil", test::described(Geometry::mesh, {23, 16}, 2, 0, 1)},
      {"pipe", test::described(Geometry::mesh, {17, 16}, 2, 0, 1)},
      {"darcy", test::described(Geometry::grid, {16, 17}, 2, 1, 1)}};
  std::vector<test::Case> all;
  for (const auto& [name, set] : sets) {
    LanoConfig config = read_recipe_files(recipe_files(LANO_CONFIGS, name, "lano", "paper"), {}).lano;
    config.layers = 2;
    all.push_back({name, config, set});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(Papers, OperatorOfEveryKind, ::testing::ValuesIn(paper_recipes()),
                         [](const auto& each) { return each.param.name; });

std::vector<float> grid_points(const Shape& mesh, double step) {
  std::vector<float> points;
  for (std::int64_t i = 0; i < mesh[0]; ++i) {
    for (std::int64_t j = 0; j < mesh[1]; ++j)
      points.insert(points.end(), {static_cast<float>(step * static_cast<double>(i)),
                                   static_cast<float>(step * static_cast<double>(j))});
  }
  return points;
}

// A model of a uniform grid, evaluated on another one, with its own number of agents and with others.
TEST(Operator, AnswersAsTheModelInLibTorchAtOtherResolutions) {
  std::vector<test::Case> kinds{test::cases()[0]};
  const auto vary = [&](const std::string& name, auto change) {
    kinds.push_back(kinds[0]);
    kinds.back().name = name;
    change(kinds.back().config);
  };
  vary("stencil by indices", [](LanoConfig& c) { c.dwc_spacing = DwcSpacing::index; });
  vary("edge", [](LanoConfig& c) { c.padding = Padding::edge; });
  vary("sequence", [](LanoConfig& c) { c.pool = Pool::sequence; });
  vary("sum", [](LanoConfig& c) { c.bias = Bias::sum; });
  for (test::Case& c : kinds) {
    SCOPED_TRACE(c.name);
    c.set.shape = {8, 9};
    Made m = made(c, {0.125, 0.125});
    TorchPredictor composite(m.file, m.model, torch::kCPU);
    Operator op(m.file);
    for (const std::int64_t agents : {4, 9}) {
      op.use_agents(agents);
      m.model->use_agents(agents);
      for (const auto& [mesh, step] : {std::pair{Shape{8, 9}, 0.125}, {Shape{15, 17}, 0.0625}, {Shape{11, 12}, 0.09}}) {
        SetDescription set = c.set;
        set.shape = mesh;
        Samples samples;
        samples.count = 1;
        samples.points = element_count(mesh);
        samples.ids = {0};
        samples.shared_coordinates = true;
        samples.coordinates = grid_points(mesh, step);
        samples.input = uniform(static_cast<std::size_t>(samples.points), 2);
        const auto wanted = composite.predict(set, samples).values;
        const auto found = op.predict(samples.coordinates, samples.input, {mesh, 0, {}});
        ASSERT_EQ(found.size(), wanted.size());
        float largest = 0;
        for (const float value : wanted) largest = std::max(largest, std::abs(value));
        for (std::size_t i = 0; i < wanted.size(); ++i)
          ASSERT_NEAR(found[i], wanted[i], 2e-5 * largest) << shape_text(mesh) << agents << " " << i;
      }
    }
  }
}

TEST(Operator, ManyCallersGetTheSameAnswer) {
  const Made m = made(test::cases()[0]);
  const Operator op(m.file);
  // Meshes of each caller's own, large enough for several threads per call.
  struct Caller {
    Shape mesh;
    std::vector<float> coordinates, input, wanted, found;
  };
  std::vector<Caller> all;
  for (std::int64_t i = 0; i < 8; ++i) {
    Caller caller{{60 + i % 3, 80}, {}, {}, {}, {}};
    const auto points = static_cast<std::size_t>(element_count(caller.mesh));
    caller.coordinates = uniform(2 * points, static_cast<std::uint64_t>(1 + i));
    caller.input = uniform(points, static_cast<std::uint64_t>(20 + i));
    caller.wanted = op.predict(caller.coordinates, caller.input, {caller.mesh, 0, {}});
    all.push_back(std::move(caller));
  }
  set_thread_count(2);
  std::vector<std::thread> callers;
  for (Caller& caller : all) {
    callers.emplace_back([&op, &caller] {
      for (int i = 0; i < 10; ++i) caller.found = op.predict(caller.coordinates, caller.input, {caller.mesh, 0, {}});
    });
  }
  for (std::thread& caller : callers) caller.join();
  set_thread_count(0);
  for (const Caller& caller : all) EXPECT_EQ(caller.found, caller.wanted);
}

TEST(Operator, MistakesAreNamed) {
  Made m = made(test::cases()[0]);
  const Operator op(m.file);
  EXPECT_ERROR_WITH(op.predict(uniform(62, 1), uniform(31, 2)), "like [5, 6]");
  EXPECT_ERROR_WITH(op.predict(uniform(60, 1), uniform(29, 2)), "30 values of input");
  EXPECT_ERROR_WITH(op.predict({}, uniform(30, 2)), "the coordinates are missing");
  EXPECT_ERROR_WITH(op.predict(uniform(60, 1), uniform(30, 2), {{3, 10, 1}, 0, {}}), "a mesh of 2 axes");
  Operator other(m.file);
  EXPECT_EQ(other.use_agents(9), 9);
  EXPECT_EQ(other.predict(uniform(60, 1), uniform(30, 2)).size(), 60u);
  ModelFile damaged = m.file;
  damaged.weights.at("decoder.weight").shape = {2, 9};
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "'decoder.weight' of 2 rows of 8");
  damaged = m.file;
  damaged.weights.erase("norm.bias");
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "the tensor 'norm.bias' is missing");
  damaged = m.file;
  damaged.architecture["name"] = "fno";
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "a LANO");
}

}  // namespace
}  // namespace lano::operator_test
