// What the paper's theory says of error against N, on a trained model: a small LANO learns a smooth nonlocal operator
// from fields on few points, and its predictions converge to a limit as the same fields are given on more points: at
// the Monte-Carlo rate N^-1/2 on random points, with the grid's step on grids. (On random weights:
// tests/libtorch/theory_test.cpp.)
#include <cmath>
#include <numbers>

#include "core/random.h"
#include "core/threads.h"
#include "evaluate/loaded_model.h"
#include "scratch.h"
#include "train/trainer.h"

namespace lano::trained_theory_test {
namespace {

constexpr double kPi = std::numbers::pi;

// a(x, y) = c0 + c1 cos(pi x) + c2 cos(pi y) + c3 cos(pi x) cos(pi y) on the unit square, whose means are known:
// mean a = c0, mean a^2 = c0^2 + c1^2/2 + c2^2/2 + c3^2/4. The operator: u = a mean(a) + sin(pi x) mean(a^2).
class Field {
 public:
  explicit Field(std::uint64_t number) {
    RandomStream stream(11, Purpose::test, 0, number);
    for (double& c : c_) c = stream.normal();
    c_[0] += 1;
  }
  double a(double x, double y) const {
    return c_[0] + c_[1] * std::cos(kPi * x) + c_[2] * std::cos(kPi * y) +
           c_[3] * std::cos(kPi * x) * std::cos(kPi * y);
  }
  double u(double x, double y) const {
    const double square = c_[0] * c_[0] + (c_[1] * c_[1] + c_[2] * c_[2]) / 2 + c_[3] * c_[3] / 4;
    return a(x, y) * c_[0] + std::sin(kPi * x) * square;
  }

 private:
  double c_[4];
};

std::vector<float> random_points(std::int64_t count, std::uint64_t step, std::uint64_t draw) {
  RandomStream stream(12, Purpose::test, step, draw);
  std::vector<float> points(static_cast<std::size_t>(2 * count));
  for (float& x : points) x = static_cast<float>(stream.uniform());
  return points;
}

// n x n points, at the ends of the axes too (0, ..., 1), or in the middles of n x n cells.
std::vector<float> grid_points(std::int64_t n, bool ends) {
  const auto place = [&](std::int64_t i) {
    return static_cast<float>(ends ? static_cast<double>(i) / static_cast<double>(n - 1)
                                   : (static_cast<double>(i) + 0.5) / static_cast<double>(n));
  };
  std::vector<float> points;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) points.insert(points.end(), {place(i), place(j)});
  }
  return points;
}

std::vector<float> values_at(std::span<const float> points, const auto& f) {
  std::vector<float> values;
  for (std::size_t p = 0; p < points.size(); p += 2)
    values.push_back(static_cast<float>(f(static_cast<double>(points[p]), static_cast<double>(points[p + 1]))));
  return values;
}

SetDescription described(Geometry geometry, const Shape& shape) {
  SetDescription set;
  set.name = "fields";
  set.geometry = geometry;
  set.shape = shape;
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  set.generator = "{}";
  return set;
}

// Steps of a fraction of a millisecond: threads would wait for each other, and change no bit.
class OneThread {
 public:
  OneThread() { set_thread_count(1); }
  ~OneThread() { set_thread_count(before_); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_ = thread_count();
};

constexpr std::int64_t kTrained = 17;  // points of an axis; clouds have its square
constexpr std::int64_t kTrain = 120, kTest = 20;

// A LANO that has learned the operator, and has learned it well: the mean solution is wrong by about 1.
LoadedModel trained(const test::Scratch& scratch, Geometry geometry) {
  const bool grid = geometry == Geometry::grid;
  const SetDescription set = described(geometry, grid ? Shape{kTrained, kTrained} : Shape{kTrained * kTrained});
  const std::vector<float> shared = grid ? grid_points(kTrained, true) : std::vector<float>{};
  DatasetWriter writer(scratch / "fields.h5", set, make_splits(kTrain, kTest), shared);
  for (std::int64_t s = 0; s < kTrain + kTest; ++s) {
    const Field field(static_cast<std::uint64_t>(s));
    const std::vector<float> own =
        grid ? std::vector<float>{} : random_points(kTrained * kTrained, 0, static_cast<std::uint64_t>(s));
    const std::vector<float>& at = grid ? shared : own;
    writer.write(s, own, values_at(at, [&](double x, double y) { return field.a(x, y); }),
                 values_at(at, [&](double x, double y) { return field.u(x, y); }));
  }
  writer.commit();
  TrainConfig config;
  config.data = (scratch / "fields.h5").string();
  config.lano.layers = 2;
  config.lano.heads = 2;
  config.lano.width = 16;
  config.lano.agents = 16;
  config.lano.first_weights = FirstWeights::scaled;
  config.lano.dwc = grid;  // along a curve through random points it is no part of the theory
  config.epochs = 30;
  config.batch = 2;
  config.clip = 1;
  config.optimiser.kind = OptimiserKind::muon;
  config.schedule.learning_rate = 8e-3;
  config.schedule.pct_start = 0.1;
  EXPECT_LT(train(config, scratch / "run").test_l2, 0.1);
  return load_model(scratch / "run/model.safetensors");
}

std::vector<double> predicted(LoadedModel& model, const SetDescription& set, const std::vector<float>& points,
                              const Field& field) {
  Samples samples;
  samples.count = 1;
  samples.points = static_cast<std::int64_t>(points.size() / 2);
  samples.coordinates = points;
  samples.shared_coordinates = set.geometry == Geometry::grid;
  samples.own_coordinates = !samples.shared_coordinates;
  samples.input = values_at(points, [&](double x, double y) { return field.a(x, y); });
  const std::vector<float> values = model.predictor->predict(set, samples).values;
  return {values.begin(), values.end()};
}

double slope_of(const std::vector<double>& x, const std::vector<double>& y) {
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    sx += x[i];
    sy += y[i];
    sxx += x[i] * x[i];
    sxy += x[i] * y[i];
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

TEST(TrainedTheory, RandomPointsConvergeAtTheMonteCarloRate) {
  const OneThread quick;
  const test::Scratch scratch;
  LoadedModel model = trained(scratch, Geometry::points);
  constexpr std::int64_t kQueries = 8;
  const Field field(1000);  // never seen
  // Asked at eight points among those of the sum.
  const auto at_queries = [&](std::vector<float> points) {
    std::vector<float> queries;
    for (int q = 0; q < kQueries; ++q)
      queries.insert(queries.end(), {0.0625f + 0.125f * static_cast<float>(q), 0.9f - 0.1f * static_cast<float>(q)});
    points.insert(points.begin(), queries.begin(), queries.end());
    std::vector<double> all =
        predicted(model, described(Geometry::points, {static_cast<std::int64_t>(points.size() / 2)}), points, field);
    all.resize(kQueries);
    return all;
  };
  const std::vector<double> limit = at_queries(grid_points(512, false));
  std::vector<double> log_n, log_error;
  for (int power = 8; power <= 14; ++power) {
    constexpr std::uint64_t kDraws = 24;
    double squares = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      const std::vector<double> found =
          at_queries(random_points(std::int64_t{1} << power, static_cast<std::uint64_t>(power), draw));
      for (std::size_t q = 0; q < kQueries; ++q) squares += std::pow(found[q] - limit[q], 2) / (kDraws * kQueries);
    }
    log_n.push_back(power * std::log(2.0));
    log_error.push_back(0.5 * std::log(squares));
    std::printf("N = %5d: error %.3e\n", 1 << power, std::sqrt(squares));
  }
  const double slope = slope_of(log_n, log_error);
  std::printf("slope %.3f\n", slope);
  RecordProperty("slope", std::to_string(slope));
  EXPECT_NEAR(slope, -0.5, 0.1);
}

TEST(TrainedTheory, PredictionsConvergeAsAGridIsRefined) {
  const OneThread quick;
  const test::Scratch scratch;
  LoadedModel model = trained(scratch, Geometry::grid);
  constexpr std::uint64_t kFields = 8;
  const std::vector<std::int64_t> extents{17, 33, 65, 129};
  std::vector<double> mean(extents.size() - 1, 0), worst = mean;
  for (std::uint64_t s = 0; s < kFields; ++s) {
    const Field field(1000 + s);
    std::vector<std::vector<double>> levels;  // at the 17 x 17 common points
    for (const std::int64_t n : extents) {
      const std::vector<double> all = predicted(model, described(Geometry::grid, {n, n}), grid_points(n, true), field);
      const std::int64_t stride = (n - 1) / (kTrained - 1);
      levels.emplace_back();
      for (std::int64_t i = 0; i < n; i += stride) {
        for (std::int64_t j = 0; j < n; j += stride) levels.back().push_back(all[static_cast<std::size_t>(i * n + j)]);
      }
    }
    for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
      double change = 0, size = 0;
      for (std::size_t p = 0; p < levels[l].size(); ++p) {
        change += std::pow(levels[l][p] - levels[l + 1][p], 2);
        size += std::pow(levels[l + 1][p], 2);
      }
      mean[l] += std::sqrt(change / size) / kFields;
      worst[l] = std::max(worst[l], std::sqrt(change / size));
    }
  }
  for (std::size_t l = 0; l < mean.size(); ++l)
    std::printf("refinement %zu: mean change %.3e, worst sample %.3e\n", l, mean[l], worst[l]);
  for (const std::vector<double>& change : {mean, worst}) {
    const double first = std::log2(change[0] / change[1]), last = std::log2(change[1] / change[2]);
    std::printf("orders %.3f, %.3f\n", first, last);
    EXPECT_GT(first, 0.7);
    EXPECT_NEAR(last, 1, 0.2);  // no rate of a fit: it would not see that the changes stop falling
  }
}

}  // namespace
}  // namespace lano::trained_theory_test
