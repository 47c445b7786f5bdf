// The runtime without LibTorch against the model in LibTorch calls, in double: every switch, geometry and task.
#include "runtime/operator.h"

#include <thread>

#include "core/random.h"
#include "models/lano_cases.h"
#include "scratch.h"
#include "train/flat_parameters.h"
#include "train/trained_model.h"

namespace lano {
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

Made made(const test::Case& c) {
  Made m;
  m.model = test::model_for(c.config, c.set);
  test::enlarge_weights(*m.model);
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
  m.model->use_engine(Engine::composite);
  const auto wanted = predict(*m.model, m.file.normaliser, c.set, samples, 1).values;
  ASSERT_EQ(found.size(), wanted.size());
  float largest = 0;
  for (const float value : wanted) largest = std::max(largest, std::abs(value));
  for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 2e-5 * largest) << i;
}

INSTANTIATE_TEST_SUITE_P(Lano, OperatorOfEveryKind, ::testing::ValuesIn(test::cases()), [](const auto& each) { return each.param.name; });

TEST(Operator, ManyCallersGetTheSameAnswer) {
  const Made m = made(test::cases()[0]);
  const Operator op(m.file);
  const auto coordinates = uniform(60, 1), input = uniform(30, 2), wanted = op.predict(coordinates, input);
  std::vector<std::vector<float>> found(8);
  std::vector<std::thread> callers;
  for (auto& to : found) callers.emplace_back([&] { for (int i = 0; i < 20; ++i) to = op.predict(coordinates, input); });
  for (std::thread& caller : callers) caller.join();
  for (const auto& each : found) EXPECT_EQ(each, wanted);
}

TEST(Operator, MistakesAreNamed) {
  Made m = made(test::cases()[0]);
  const Operator op(m.file);
  EXPECT_ERROR_WITH(op.predict(uniform(62, 1), uniform(31, 2)), "like [5, 6]");
  EXPECT_ERROR_WITH(op.predict(uniform(60, 1), uniform(29, 2)), "30 values of input");
  EXPECT_ERROR_WITH(op.predict({}, uniform(30, 2)), "expected coordinates");
  EXPECT_ERROR_WITH(op.predict(uniform(60, 1), uniform(30, 2), {{3, 10, 1}, 0, {}}), "a mesh of 2 axes");
  Operator other(m.file);
  EXPECT_EQ(other.use_agents(9), 9);
  EXPECT_EQ(other.predict(uniform(60, 1), uniform(30, 2)).size(), 60u);
  ModelFile damaged = m.file;
  damaged.weights.at("decoder.weight").shape = {2, 9};
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "'decoder.weight' of 2 rows of 8");
  damaged = m.file;
  damaged.weights.erase("norm.bias");
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "a tensor 'norm.bias'");
  damaged = m.file;
  damaged.architecture["name"] = "fno";
  EXPECT_ERROR_WITH(Operator(std::move(damaged)), "a LANO");
}

}  // namespace
}  // namespace lano
