// Roll-outs by the operator and through C: the same as stepping by hand, on grids and clouds.
#include <gtest/gtest.h>

#include <cmath>

#include "lano/lano.h"
#include "random_model.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::roll_out_test {
namespace {

LanoConfig stepping() {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 8;
  c.agents = 4;
  c.task = Task::autoregressive;
  return c;
}

ModelFile model_of(Geometry geometry, const LanoConfig& config) {
  const Shape shape = geometry == Geometry::points ? Shape{30} : Shape{6, 5};
  SetDescription set = test::set_of(geometry, shape, 2, 1, 2);
  set.time = {0, 1, 2};
  if (config.task == Task::steady) set.time.clear();
  return test::random_model(config, set);
}

std::vector<float> places() {
  std::vector<float> x = test::uniform(60, 5, 0.5);
  for (float& value : x) value += 0.5f;
  return x;
}

TEST(RollOut, EqualsSteppingByHand) {
  for (const Geometry geometry : {Geometry::mesh, Geometry::points}) {
    const Operator op(model_of(geometry, stepping()));
    const std::vector<float> x = places(), a = test::uniform(30, 6), first = test::uniform(60, 7);
    Operator::Call call;
    call.state = first;
    const std::vector<float> states = op.roll_out(x, a, 4, call);
    ASSERT_EQ(states.size(), 4u * 60u);
    std::vector<float> state = first;
    for (std::size_t step = 0; step < 4; ++step) {
      call.state = state;
      state = op.predict(x, a, call);
      EXPECT_EQ(state, std::vector<float>(states.begin() + static_cast<std::ptrdiff_t>(step * 60),
                                          states.begin() + static_cast<std::ptrdiff_t>(step * 60 + 60)));
    }
    EXPECT_NE(std::vector<float>(states.begin(), states.begin() + 60), state);
  }
}

// The change of the state: the same network with increments gives u + s (its output without shift).
TEST(RollOut, IncrementsAreAddedToTheState) {
  for (const Geometry geometry : {Geometry::mesh, Geometry::points}) {
    ModelFile plain = model_of(geometry, stepping()), changing = plain;
    changing.normaliser.increment = {0.25, 0.5};
    const test::Scratch scratch;
    write_model_file(scratch / "model.safetensors", changing);
    const Operator next(std::move(plain)), change = Operator::load(scratch / "model.safetensors");
    const std::vector<float> x = places(), a = test::uniform(30, 6), state = test::uniform(60, 7);
    Operator::Call call;
    call.state = state;
    const std::vector<float> one = next.predict(x, a, call), two = change.predict(x, a, call);
    const ChannelMap map = test::some_scaling(2);
    for (std::size_t i = 0; i < one.size(); ++i) {
      const double network = one[i] - map.shift()[i % 2], unit = i % 2 == 0 ? 0.25 : 0.5;
      EXPECT_NEAR(two[i], state[i] + unit * network, 1e-5) << i;
    }
  }
}

TEST(RollOut, IncrementsOfASteadyModelAreADamagedFile) {
  const test::Scratch scratch;
  LanoConfig steady = stepping();
  steady.task = Task::steady;
  ModelFile file = model_of(Geometry::mesh, steady);
  file.normaliser.increment = {0.25, 0.5};
  write_model_file(scratch / "steady.safetensors", file);
  EXPECT_ERROR_WITH(Operator::load(scratch / "steady.safetensors"), "does not step in time");
  file = model_of(Geometry::mesh, stepping());
  for (const std::vector<double>& units : {std::vector<double>{1}, {0, 1}, {-1, 1}, {1, HUGE_VAL}}) {
    file.normaliser.increment = units;
    write_model_file(scratch / "odd.safetensors", file);
    EXPECT_ERROR_WITH(Operator::load(scratch / "odd.safetensors"),
                      std::isfinite(units.back()) ? "increments must be above 0, one per output channel" : "is null");
  }
}

TEST(RollOut, ReachesC) {
  const test::Scratch scratch;
  write_model_file(scratch / "model.safetensors", model_of(Geometry::mesh, stepping()));
  const Operator op = Operator::load(scratch / "model.safetensors");
  const std::vector<float> x = places(), a = test::uniform(30, 6), first = test::uniform(60, 7);
  Operator::Call said;
  said.state = first;
  lano_operator* c = nullptr;
  ASSERT_EQ(lano_load((scratch / "model.safetensors").c_str(), &c), LANO_OK) << lano_message();
  lano_call call{};
  call.state = first.data();
  std::vector<float> states(3 * 60);
  EXPECT_EQ(lano_roll_out(c, 30, x.data(), a.data(), 3, states.data(), &call), LANO_OK) << lano_message();
  EXPECT_EQ(states, op.roll_out(x, a, 3, said));
  EXPECT_EQ(lano_roll_out(c, 30, x.data(), a.data(), 0, states.data(), &call), LANO_MISUSED);
  EXPECT_EQ(lano_roll_out(c, 30, x.data(), a.data(), 3, states.data(), nullptr), LANO_MISUSED);
  call.state = nullptr;
  EXPECT_EQ(lano_roll_out(c, 30, x.data(), a.data(), 3, states.data(), &call), LANO_MISUSED);
  EXPECT_NE(std::string(lano_message()).find("the state to step from is missing"), std::string::npos);
  lano_free(c);
}

// Three frames, oldest first; each step gives the newest frame of the next state. Increments are those of the newest.
TEST(RollOut, AStateOfThreeFrames) {
  LanoConfig config = stepping();
  config.state_frames = 3;
  for (const Geometry geometry : {Geometry::mesh, Geometry::points}) {
    ModelFile file = model_of(geometry, config);
    file.normaliser.increment = {0.25, 0.5};
    const test::Scratch scratch;
    write_model_file(scratch / "model.safetensors", file);
    const Operator op = Operator::load(scratch / "model.safetensors");
    EXPECT_EQ(op.state_frames(), 3);
    const std::vector<float> x = places(), a = test::uniform(30, 6), first = test::uniform(180, 7);
    Operator::Call call;
    call.state = first;
    const std::vector<float> states = op.roll_out(x, a, 5, call);
    ASSERT_EQ(states.size(), 5u * 60u);
    std::vector<float> all = first;  // frames one after the other
    for (std::size_t step = 0; step < 5; ++step) {
      call.state = std::span(all).last(180);
      const std::vector<float> next = op.predict(x, a, call);
      all.insert(all.end(), next.begin(), next.end());
    }
    EXPECT_EQ(std::vector<float>(all.begin() + 180, all.end()), states);
    // The order of the frames matters, and what is added to is the newest.
    std::vector<float> turned(first.begin() + 60, first.end());
    turned.insert(turned.end(), first.begin(), first.begin() + 60);
    call.state = turned;
    EXPECT_NE(op.predict(x, a, call), std::vector<float>(states.begin(), states.begin() + 60));
    ModelFile still = file;
    for (double& unit : still.normaliser.increment) unit = 1e-30;
    call.state = first;
    EXPECT_EQ(Operator(still).predict(x, a, call), std::vector<float>(first.begin() + 120, first.end()));

    lano_operator* c = nullptr;
    ASSERT_EQ(lano_load((scratch / "model.safetensors").string().c_str(), &c), LANO_OK) << lano_message();
    EXPECT_EQ(lano_state_frames(c), 3);
    lano_call said{};
    said.state = first.data();
    std::vector<float> by_c(5 * 60);
    EXPECT_EQ(lano_roll_out(c, 30, x.data(), a.data(), 5, by_c.data(), &said), LANO_OK) << lano_message();
    EXPECT_EQ(by_c, states);
    lano_free(c);
    call.state = std::span(first).first(60);
    EXPECT_ERROR_WITH(op.predict(x, a, call), "expected 180 values of state: 30 points of 6 channels, found 60");
  }
  EXPECT_EQ(Operator(model_of(Geometry::mesh, stepping())).state_frames(), 1);
}

// Time-conditional models have no roll-out: their times are predicted one by one.
TEST(RollOut, TimesAreAskedForInOneCall) {
  const test::Scratch scratch;
  LanoConfig timed = stepping();
  timed.task = Task::time_conditional;
  write_model_file(scratch / "timed.safetensors", model_of(Geometry::mesh, timed));
  write_model_file(scratch / "stepping.safetensors", model_of(Geometry::mesh, stepping()));
  const Operator op = Operator::load(scratch / "timed.safetensors");
  const std::vector<float> x = places(), a = test::uniform(30, 6);
  const std::vector<double> times{0.25, 2, 7};
  lano_operator *c = nullptr, *steps = nullptr;
  ASSERT_EQ(lano_load((scratch / "timed.safetensors").c_str(), &c), LANO_OK) << lano_message();
  ASSERT_EQ(lano_load((scratch / "stepping.safetensors").c_str(), &steps), LANO_OK) << lano_message();
  double trained[2] = {};
  EXPECT_EQ(lano_training_times(c, trained, 2), 3);
  EXPECT_EQ(trained[1], 1);
  EXPECT_EQ(lano_training_times(c, nullptr, -1), 3);
  EXPECT_EQ(lano_state_frames(c), 0);
  EXPECT_EQ(lano_state_frames(steps), 1);
  std::vector<float> answers(3 * 60);
  EXPECT_EQ(lano_predict_times(c, 30, x.data(), a.data(), 3, times.data(), answers.data(), nullptr), LANO_OK)
      << lano_message();
  for (std::size_t t = 0; t < 3; ++t) {
    Operator::Call call;
    call.time = times[t];
    EXPECT_EQ(op.predict(x, a, call), std::vector<float>(answers.begin() + static_cast<std::ptrdiff_t>(60 * t),
                                                         answers.begin() + static_cast<std::ptrdiff_t>(60 * t + 60)));
  }
  const double never = std::nan("");
  EXPECT_EQ(lano_predict_times(c, 30, x.data(), a.data(), 1, &never, answers.data(), nullptr), LANO_FAILED);
  EXPECT_NE(std::string(lano_message()).find("a finite time"), std::string::npos) << lano_message();
  EXPECT_EQ(lano_predict_times(c, 30, x.data(), a.data(), 0, times.data(), answers.data(), nullptr), LANO_MISUSED);
  EXPECT_EQ(lano_predict_times(c, 30, x.data(), a.data(), 3, nullptr, answers.data(), nullptr), LANO_MISUSED);
  const std::int64_t many = std::int64_t{1} << 39;
  EXPECT_EQ(lano_predict_times(c, 30, x.data(), a.data(), many, times.data(), answers.data(), nullptr), LANO_MISUSED);
  EXPECT_EQ(lano_predict_times(steps, 30, x.data(), a.data(), 3, times.data(), answers.data(), nullptr), LANO_MISUSED);
  EXPECT_NE(std::string(lano_message()).find("call roll_out"), std::string::npos) << lano_message();
  lano_free(c);
  lano_free(steps);
}

TEST(RollOut, RefusesWhatDoesNotFit) {
  LanoConfig steady = stepping();
  steady.task = Task::steady;
  const std::vector<float> x = places(), a = test::uniform(30, 6), first = test::uniform(60, 7);
  Operator::Call call;
  call.state = first;
  EXPECT_ERROR_WITH(Operator(model_of(Geometry::mesh, steady)).roll_out(x, a, 2, call), "does not step in time");
  const Operator op(model_of(Geometry::mesh, stepping()));
  std::vector<float> room(100);
  EXPECT_ERROR_WITH(op.roll_out(x, a, 2, room, call), "room for 2 frames of 60 values");
  EXPECT_ERROR_WITH(op.roll_out(x, a, -1, call), "at least one step");
}

}  // namespace
}  // namespace lano::roll_out_test
