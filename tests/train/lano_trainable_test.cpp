// The hand-written gradients of a LANO's training against finite differences in double of another implementation
// (tests/naive_lano.h) with a separate loss: every loss, roll-outs, time, dropout, packed clouds, any unit of the data.
#include "train/lano_trainable.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/random.h"
#include "core/threads.h"
#include "model_spec/lano_layout.h"
#include "model_spec/lano_sizes.h"
#include "naive_lano.h"
#include "scratch.h"

namespace lano::lano_trainable_test {
namespace {

using test::Matrix;
using test::NaiveLano;

std::vector<float> normal(std::int64_t size, std::uint64_t seed, double scale = 1, double shift = 0) {
  RandomStream stream(seed, Purpose::test);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = static_cast<float>(shift + scale * stream.normal());
  return values;
}

SetDescription described(Geometry geometry, Shape shape, std::size_t inputs, std::size_t outputs) {
  SetDescription set;
  set.geometry = geometry;
  set.shape = std::move(shape);
  set.coordinates.resize(2, {"x", "1"});
  set.input.resize(inputs, {"a", "1"});
  set.output.resize(outputs, {"u", "1"});
  set.box = {0, 1, 0, 1};
  return set;
}

struct Setting {
  std::string name;
  TrainConfig config;
  SetDescription set;
  std::vector<std::int64_t> sizes;  // points of each sample
  std::vector<std::vector<double>> weights;
  double unit = 1;  // of the output

  std::int64_t window() const { return std::max<std::int64_t>(1, config.lano.state_frames); }
};

void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }

std::vector<Setting> settings() {
  TrainConfig config;
  config.lano.layers = 2;
  config.lano.heads = 2;
  config.lano.width = 8;
  config.lano.agents = 4;
  const SetDescription grid = described(Geometry::grid, {5, 6}, 1, 2);
  std::vector<Setting> all;
  const auto add = [&](const std::string& name, const SetDescription& set, std::vector<std::int64_t> sizes,
                       auto change) {
    all.push_back({name, config, set, std::move(sizes), {}});
    change(all.back());
  };
  const auto nothing = [](Setting&) {};
  add("steady", grid, {30, 30, 30}, nothing);
  add("root_mean_square", grid, {30, 30}, [](Setting& s) { s.config.loss.kind = LossKind::l2; });
  add("gradient_term", grid, {30, 30}, [](Setting& s) { s.config.loss.gradient_weight = 0.3; });
  add("gradient_term_root_mean_square", grid, {30, 30}, [](Setting& s) {
    s.config.loss.gradient_weight = 0.3;
    s.config.loss.kind = LossKind::l2;
  });
  add("mean_output", grid, {30, 30}, [](Setting& s) {
    s.config.output = Scaling::field;
    s.config.loss.gradient_weight = 0.3;
  });
  add("channels", grid, {30, 30}, [](Setting& s) {
    s.config.loss.channel_weights = {4, 0.25};
    s.config.loss.gradient_weight = 0.1;
  });
  add("reference_positions", grid, {30, 30}, [](Setting& s) {
    s.config.lano.position = Position::reference;
    s.config.lano.decoder = Decoder::mlp;
  });
  add("clouds", described(Geometry::points, {12}, 1, 1), {12, 3, 1, 17}, nothing);
  add("ffn_stencil", grid, {30, 30}, [](Setting& s) { s.config.lano.ffn_stencil = true; });
  add("ffn_stencil_dropped", grid, {30, 30}, [](Setting& s) {
    s.config.lano.ffn_stencil = true;
    s.config.lano.dropout = 0.3;
  });
  add("exchange", grid, {30, 30}, [](Setting& s) {
    s.config.lano.exchange = true;
    s.config.lano.heads = 4;
  });
  add("exchange_of_clouds", described(Geometry::points, {12}, 1, 1), {12, 3, 17},
      [](Setting& s) { s.config.lano.exchange = true; });
  add("ffn_neighbours", described(Geometry::points, {24}, 1, 1), {24, 31}, [](Setting& s) {
    s.config.lano.stencil = Stencil::neighbours;
    s.config.lano.ffn_stencil = true;
  });
  add("neighbours", described(Geometry::points, {24}, 1, 1), {24, 3, 1, 31},
      [](Setting& s) { s.config.lano.stencil = Stencil::neighbours; });
  SetDescription torus = grid;
  torus.periodic = {true, true};
  add("periodic", torus, {30, 30}, nothing);
  add("exchange_on_a_torus", torus, {30, 30}, [](Setting& s) { s.config.lano.exchange = true; });
  torus.periodic = {false, true};
  add("periodic_axis", torus, {30, 30}, [](Setting& s) {
    s.config.lano.ffn_stencil = true;
    s.config.lano.bias = Bias::sum;
  });
  SetDescription timed = grid;
  timed.time = {0.5, 0.75, 1.0, 1.25};
  add("time", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::time_conditional;
    s.weights = {{0.5, 2}};
  });
  add("one_step", timed, {30, 30}, [](Setting& s) { s.config.lano.task = Task::autoregressive; });
  add("rolled_out", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.rollout = 3;
    s.config.loss.gradient_weight = 0.1;
    s.weights = {{1, 1}, {2, 2}, {0.5, 0.5}};
  });
  add("increments", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.increments = true;
  });
  add("increments_rolled_out", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.increments = true;
    s.config.rollout = 3;
    s.weights = {{1, 1}, {2, 2}, {0.5, 0.5}};
  });
  add("three_frames", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.lano.state_frames = 3;
  });
  add("two_frames_rolled_out", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.lano.state_frames = 2;
    s.config.rollout = 4;  // frames of the state that were given, one of each, and that were made
    s.weights = {{1, 1}, {2, 2}, {0.5, 0.5}, {1, 3}};
  });
  add("two_frames_of_increments", timed, {30, 30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.lano.state_frames = 2;
    s.config.increments = true;
    s.config.rollout = 3;
  });
  add("dropped", grid, {30, 30}, [](Setting& s) { s.config.lano.dropout = 0.3; });
  add("dropped_clouds", described(Geometry::points, {12}, 1, 1), {12, 5},
      [](Setting& s) { s.config.lano.dropout = 0.5; });
  add("dropped_and_rolled_out", timed, {30}, [](Setting& s) {
    s.config.lano.task = Task::autoregressive;
    s.config.rollout = 2;
    s.config.lano.dropout = 0.2;
  });
  for (const double unit : {1e-37, 1e-25, 1e25, 1e37}) {
    add(unit < 1      ? (unit < 1e-30 ? "smallest_unit" : "small_unit")
        : unit > 1e30 ? "largest_unit"
                      : "large_unit",
        grid, {30, 30}, [&](Setting& s) {
          s.unit = unit;
          s.config.loss.gradient_weight = 0.1;
        });
  }
  return all;
}

// A lesson, a LANO with weights far from linear, and the loss of both in double by loops.
class Taught {
 public:
  explicit Taught(const Setting& s) : setting(s), shape(lano_shape(s.config.lano, s.set)) {
    if (s.config.lano.position == Position::reference) shape.reference_box = {-2, 2, -2, 2};
    std::vector<double> shift, scale;
    for (std::size_t c = 0; c < s.set.output.size(); ++c) {
      shift.push_back(s.unit * (0.3 + static_cast<double>(c)));
      scale.push_back(s.unit * (1.5 - 0.5 * static_cast<double>(c)));
    }
    objective = {ChannelMap(shift, scale), s.set.geometry == Geometry::points ? Shape{} : s.set.shape, {0.2, 0.25}, {}};
    if (s.config.increments) objective.increment = {0.3, 0.8};
    if (s.config.output == Scaling::field) objective.base = normal(30 * static_cast<std::int64_t>(scale.size()), 9, 2);
    lano = std::make_unique<LanoTrainable>(to_json(s.config.lano, shape), s.config, objective);
    const std::vector<float> larger = normal(static_cast<std::int64_t>(lano->values().size()), 5, 0.4);
    for (std::size_t i = 0; i < larger.size(); ++i) lano->values()[i] = larger[i] + 0.2f * lano->values()[i];
    FieldBatch& b = lesson.batch;
    b.sizes = s.sizes;
    b.packed = s.set.geometry == Geometry::points;
    b.mesh = objective.mesh;
    b.coordinates = normal(b.points() * 2, 1);
    b.input = normal(b.points() * s.set.input_channels(), 2);
    if (s.config.lano.task == Task::time_conditional) {
      b.times.assign(s.sizes.size(), 0.75);
      b.times[0] = 1.1;
    }
    const std::int64_t frames = s.config.lano.task == Task::autoregressive ? s.config.rollout + s.window() : 1;
    for (std::int64_t k = 0; k < frames; ++k) {
      lesson.truth.push_back(normal(b.points() * s.set.output_channels(), static_cast<std::uint64_t>(10 + k), s.unit));
    }
    lesson.weights = s.weights;
    lesson.share = 0.7;
    lesson.step = 6;
    lesson.place = 3;
  }

  NaiveLano naive() const {
    NaiveLano::Weights weights;
    std::size_t at = 0;
    for (const auto& [name, sizes] : lano->layout()) {
      const auto part = lano->values().subspan(at, static_cast<std::size_t>(element_count(sizes)));
      weights[name].assign(part.begin(), part.end());
      at += part.size();
    }
    return {weights, setting.config.lano, shape};
  }

  // share times the loss, in double.
  double loss(NaiveLano& network) const {
    const TrainConfig& c = setting.config;
    const bool steps = c.lano.task == Task::autoregressive;
    const std::size_t passes = steps ? static_cast<std::size_t>(c.rollout) : 1;
    const auto window = static_cast<std::size_t>(steps ? setting.window() : 0);
    const auto du = static_cast<std::size_t>(objective.output.channels());
    double sum = 0;
    std::size_t first = 0;
    for (std::size_t b = 0; b < lesson.batch.sizes.size(); ++b) {
      const auto points = static_cast<std::size_t>(lesson.batch.sizes[b]);
      std::vector<Matrix> states;  // normalised: those given, then those made
      for (std::size_t j = 0; j < window; ++j) states.push_back(truth_of(j, first, points, true));
      for (std::size_t k = 0; k < passes; ++k) {
        network.drop = dropper(b, k);
        Matrix features;
        for (std::size_t n = 0; n < points; ++n) {
          std::vector<double> row;
          for (std::size_t a = 0; a < 2; ++a) row.push_back(lesson.batch.coordinates[(first + n) * 2 + a]);
          const std::size_t da = setting.set.input.size();
          for (std::size_t a = 0; a < da; ++a) row.push_back(lesson.batch.input[(first + n) * da + a]);
          for (std::size_t j = k; j < k + window; ++j) row.insert(row.end(), states[j][n].begin(), states[j][n].end());
          features.push_back(row);
        }
        const double time = lesson.batch.times.empty() ? 0 : lesson.batch.times[b];
        Matrix next = network.forward(features, lesson.batch.mesh, reach_of(lesson.batch.sizes[b]), {}, time);
        for (std::size_t n = 0; c.increments && n < points; ++n) {
          for (std::size_t ch = 0; ch < du; ++ch)
            next[n][ch] = states.back()[n][ch] + objective.increment[ch] * next[n][ch];
        }
        states.push_back(next);
        Matrix error = next, truth = truth_of(window + k, first, points, false);
        for (std::size_t n = 0; n < points; ++n) {
          for (std::size_t ch = 0; ch < du; ++ch) {
            const double root = c.loss.channel_weights.empty() ? 1 : std::sqrt(c.loss.channel_weights[ch]);
            const double base = objective.base.empty() ? 0 : objective.base[n * du + ch];
            error[n][ch] = root * (next[n][ch] * objective.output.scale()[ch] + objective.output.shift()[ch] + base -
                                   truth[n][ch]);
            truth[n][ch] *= root;
          }
        }
        double value = ratio(error, truth);
        if (c.loss.gradient_weight > 0) value += c.loss.gradient_weight * ratio(differences(error), differences(truth));
        sum += value * (lesson.weights.empty() ? 1 : lesson.weights[k][b]) / static_cast<double>(passes);
      }
      first += points;
    }
    return lesson.share * sum / static_cast<double>(lesson.batch.sizes.size());
  }

  Setting setting;
  LanoShape shape;
  Objective objective;
  std::unique_ptr<LanoTrainable> lano;
  Lesson lesson;

 private:
  Matrix truth_of(std::size_t frame, std::size_t first, std::size_t points, bool normalised) const {
    const auto du = static_cast<std::size_t>(objective.output.channels());
    Matrix rows(points, std::vector<double>(du));
    for (std::size_t n = 0; n < points; ++n) {
      for (std::size_t c = 0; c < du; ++c) {
        const double value = lesson.truth[frame][(first + n) * du + c];
        rows[n][c] = normalised
                         ? static_cast<float>((value - objective.output.shift()[c]) / objective.output.scale()[c])
                         : value;
      }
    }
    return rows;
  }

  // A cloud larger or smaller than those of training: the stencil's taps lie further apart or closer in its own points.
  std::vector<double> reach_of(std::int64_t points) const {
    if (setting.set.geometry != Geometry::points) return {};
    const AxisLayout axis = lano_layout(setting.config.lano, shape, points, {}, {}, {}, {}).axes.at(0);
    return axis.moved ? std::vector<double>{axis.reach} : std::vector<double>{};
  }

  double ratio(const Matrix& error, const Matrix& truth) const {
    double above = 0, below = 0;
    std::size_t count = 0;
    for (std::size_t n = 0; n < error.size(); ++n) {
      for (std::size_t c = 0; c < error[n].size(); ++c, ++count) {
        above += error[n][c] * error[n][c];
        below += truth[n][c] * truth[n][c];
      }
    }
    return std::sqrt(above / (setting.config.loss.kind == LossKind::relative_l2 ? below : static_cast<double>(count)));
  }

  // Central differences along both axes of the grid at its interior points.
  Matrix differences(const Matrix& field) const {
    Matrix slopes;
    const auto n1 = static_cast<std::size_t>(objective.mesh[0]), n2 = static_cast<std::size_t>(objective.mesh[1]);
    for (std::size_t i = 1; i + 1 < n1; ++i) {
      for (std::size_t j = 1; j + 1 < n2; ++j) {
        std::vector<double> row;
        for (std::size_t c = 0; c < field[0].size(); ++c) {
          row.push_back((field[(i + 1) * n2 + j][c] - field[(i - 1) * n2 + j][c]) / (2 * objective.spacing[0]));
          row.push_back((field[i * n2 + j + 1][c] - field[i * n2 + j - 1][c]) / (2 * objective.spacing[1]));
        }
        slopes.push_back(row);
      }
    }
    return slopes;
  }

  std::function<void(std::int64_t, kernels::Branch, Matrix&)> dropper(std::size_t sample, std::size_t pass) const {
    const double rate = setting.config.lano.dropout;
    if (rate == 0) return {};
    const kernels::Dropout dropout{rate, static_cast<std::uint64_t>(setting.config.seed), lesson.step, lesson.place,
                                   static_cast<std::uint32_t>(pass)};
    return [=](std::int64_t block, kernels::Branch branch, Matrix& rows) {
      const kernels::DropoutMask mask(dropout, static_cast<std::int64_t>(sample), block, branch);
      std::vector<float> factors(rows[0].size());
      for (std::size_t n = 0; n < rows.size(); ++n) {
        mask.row(static_cast<std::int64_t>(n), static_cast<std::int64_t>(factors.size()), factors.data());
        for (std::size_t c = 0; c < factors.size(); ++c) rows[n][c] *= static_cast<double>(factors[c]);
      }
    };
  }
};

class LanoTrainables : public testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(All, LanoTrainables, testing::ValuesIn(settings()),
                         [](const auto& each) { return each.param.name; });

TEST_P(LanoTrainables, LearnsAlongFiniteDifferencesInDouble) {
  Taught t(GetParam());
  NaiveLano network = t.naive();
  const double found = t.lano->learn(t.lesson), wanted = t.loss(network);
  EXPECT_NEAR(t.lesson.share * found, wanted, 2e-5 * std::abs(wanted));
  const std::vector<float> gradient(t.lano->gradients().begin(), t.lano->gradients().end());
  double size = 0;
  for (const float g : gradient) size += static_cast<double>(g) * g;
  size = std::sqrt(size);
  ASSERT_GT(size, 0);
  ASSERT_TRUE(std::isfinite(size));
  // Along a random direction of each tensor; in double the quotient is good to eight digits, the float gradient to
  // four.
  std::size_t at = 0;
  std::uint64_t next = 0;
  for (const auto& [name, sizes] : t.lano->layout()) {
    std::vector<double>& tensor = network.tensor(name);
    const std::vector<double> kept = tensor;
    RandomStream stream(77, Purpose::test, next++);
    std::vector<double> direction(kept.size());
    double norm = 0, slope = 0;
    for (double& d : direction) {
      d = stream.normal();
      norm += d * d;
    }
    for (std::size_t i = 0; i < kept.size(); ++i) {
      direction[i] /= std::sqrt(norm);
      slope += direction[i] * static_cast<double>(gradient[at + i]);
    }
    const auto value_at = [&](double h) {
      for (std::size_t i = 0; i < kept.size(); ++i) tensor[i] = kept[i] + h * direction[i];
      return t.loss(network);
    };
    constexpr double kStep = 1e-4;
    const double quotient =
        (8 * (value_at(kStep) - value_at(-kStep)) - (value_at(2 * kStep) - value_at(-2 * kStep))) / (12 * kStep);
    tensor = kept;
    EXPECT_NEAR(slope, quotient, 2e-4 * std::abs(quotient) + 2e-5 * size) << name;
    at += kept.size();
  }
}

// Gradients of a second batch are added; their sum is that of the parts.
TEST_P(LanoTrainables, FurtherBatchesAddTheirGradients) {
  Taught t(GetParam());
  t.lano->learn(t.lesson);
  const std::vector<float> once(t.lano->gradients().begin(), t.lano->gradients().end());
  t.lesson.first = false;
  t.lano->learn(t.lesson);
  float largest = 0;
  for (const float g : once) largest = std::max(largest, std::abs(g));
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(t.lano->gradients()[i], 2 * once[i], 1e-6 * largest) << i;
  t.lesson.first = true;
  t.lano->learn(t.lesson);
  EXPECT_EQ(std::vector<float>(t.lano->gradients().begin(), t.lano->gradients().end()), once);
}

// The unit of the data changes the curve by rounding only: the same problem in units of 1, 2^80 and 2^-100.
TEST(LanoTrainable, TheUnitOfTheDataDoesNotMatter) {
  Setting plain = settings().front();
  plain.config.loss.gradient_weight = 0.1;
  std::vector<std::vector<float>> gradients;
  std::vector<double> losses;
  for (const double unit : {1.0, std::ldexp(1.0, 80), std::ldexp(1.0, -100)}) {
    plain.unit = unit;
    Taught t(plain);
    losses.push_back(t.lano->learn(t.lesson));
    gradients.emplace_back(t.lano->gradients().begin(), t.lano->gradients().end());
  }
  for (std::size_t i = 1; i < losses.size(); ++i) {
    EXPECT_NEAR(losses[i], losses[0], 1e-12 * losses[0]);
    EXPECT_EQ(gradients[i], gradients[0]);  // powers of two round alike
  }
}

TEST(LanoTrainable, APerfectPredictionHasNoDirectionToGo) {
  Taught t(settings().front());
  const std::vector<float> network = t.lano->pass(t.lesson.batch, {}, {});
  std::vector<float> physical(network.size());
  t.objective.output.decode(network, physical);
  FieldLoss loss(t.setting.config.loss, ChannelMap::identity(2), {}, {});
  std::vector<float> slopes(network.size(), 1);
  EXPECT_EQ(loss(physical, physical, t.lesson.batch.sizes, {}, 1, slopes), 0);
  EXPECT_EQ(slopes, std::vector<float>(network.size(), 0));
}

TEST(LanoTrainable, ThreadsDoNotChangeABit) {
  Setting large = settings()[9];
  large.set.shape = {41, 37};
  large.sizes = {41 * 37, 41 * 37};
  large.config.lano.dropout = 0.2;
  std::vector<std::vector<float>> gradients;
  const int before = thread_count();
  for (const int threads : {1, 2, 3}) {
    set_thread_count(threads);
    Taught t(large);
    t.lano->learn(t.lesson);
    gradients.emplace_back(t.lano->gradients().begin(), t.lano->gradients().end());
  }
  set_thread_count(before);
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(gradients[0], gradients[2]);
}

// What ranks rely on: the gradients of a sample on its own, whatever else is in the batch, and their sum in order.
TEST(LanoTrainable, SamplesByThemselvesAddUpToTheBatchBitForBit) {
  for (const Setting& setting : settings()) {
    SCOPED_TRACE(setting.name);
    Taught together(setting), each(setting);
    const double loss = together.lano->learn(together.lesson);
    SampleLessons samples;
    each.lano->learn_samples(each.lesson, samples);
    const std::size_t parameters = each.lano->values().size();
    ASSERT_EQ(samples.gradients.size(), samples.losses.size() * parameters);
    std::vector<float> sum(samples.gradients.begin(),
                           samples.gradients.begin() + static_cast<std::ptrdiff_t>(parameters));
    double losses = samples.losses[0];
    for (std::size_t i = 1; i < samples.losses.size(); ++i) {
      losses += samples.losses[i];
      for (std::size_t p = 0; p < parameters; ++p) sum[p] += samples.gradients[i * parameters + p];
    }
    EXPECT_EQ(losses / static_cast<double>(samples.losses.size()), loss);
    const std::span<const float> whole = together.lano->gradients();
    EXPECT_EQ(sum, std::vector<float>(whole.begin(), whole.end()));
  }
}

TEST(Dropout, DropsItsShareAndKeepsTheMean) {
  const kernels::Dropout dropout{0.3, 5, 2, 0, 0};
  const kernels::DropoutMask mask(dropout, 1, 0, kernels::Branch::attention),
      other(dropout, 1, 0, kernels::Branch::feed_forward);
  constexpr std::int64_t kPoints = 2000, kWidth = 30;
  std::vector<float> row(kWidth), second(kWidth);
  double sum = 0, zeros = 0, same = 0;
  for (std::int64_t n = 0; n < kPoints; ++n) {
    mask.row(n, kWidth, row.data());
    other.row(n, kWidth, second.data());
    for (std::size_t c = 0; c < row.size(); ++c) {
      sum += row[c];
      zeros += row[c] == 0 ? 1 : 0;
      same += row[c] == second[c] ? 1 : 0;
    }
  }
  // Four deviations of the binomial: sqrt(0.3 * 0.7 / 60000) = 0.0019.
  EXPECT_NEAR(zeros / (kPoints * kWidth), 0.3, 0.0075);
  EXPECT_NEAR(sum / (kPoints * kWidth), 1, 0.011);
  EXPECT_NEAR(same / (kPoints * kWidth), 0.3 * 0.3 + 0.7 * 0.7, 0.0085);  // the other branch draws for itself
}

}  // namespace
}  // namespace lano::lano_trainable_test
