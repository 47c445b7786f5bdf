// Simple baselines against their definitions, on data with known results.
#include "evaluate/simple_baselines.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "core/random.h"
#include "metrics/metrics.h"
#include "scratch.h"

namespace lano::simple_baselines_test {
namespace {

constexpr std::int64_t kPoints = 12;

struct Made {
  std::vector<std::vector<float>> input, output;  // of each sample
  std::vector<Split> splits;
};

std::string write(const test::Scratch& scratch, const Made& made, std::int64_t frames = 0) {
  SetDescription set;
  set.name = "made";
  set.geometry = Geometry::grid;
  set.shape = {kPoints};
  set.coordinates = {{"x", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  set.generator = "{}";
  for (std::int64_t t = 0; t < frames; ++t) set.time.push_back(static_cast<double>(t));
  std::vector<float> x;
  for (std::int64_t i = 0; i < kPoints; ++i) x.push_back(static_cast<float>(i) / (kPoints - 1));
  const std::string path = (scratch / "made.h5").string();
  DatasetWriter writer(path, set, made.splits, x);
  for (std::size_t s = 0; s < made.splits.size(); ++s)
    writer.write(static_cast<std::int64_t>(s), {}, made.input[s], made.output[s]);
  writer.commit();
  return path;
}

std::map<std::string, double> errors_of(const std::string& path, std::int64_t given, Split split = Split::test) {
  const DatasetReader reader(path);
  std::map<std::string, double> errors;
  for (const BaselineError& one :
       SimpleBaselines(reader, reader.indices(Split::train), given).judge(reader, reader.indices(split)))
    errors[one.name] = one.relative_l2;
  return errors;
}

// u = B a + c for a random matrix B: linear, so that regression finds it and nothing else does.
Made linear(std::int64_t samples) {
  RandomStream stream(7, Purpose::test);
  Eigen::MatrixXd b(kPoints, kPoints);
  for (Eigen::Index i = 0; i < b.size(); ++i) b.data()[i] = stream.normal();
  Made made;
  for (std::int64_t s = 0; s < samples; ++s) {
    Eigen::VectorXd a(kPoints);
    for (Eigen::Index i = 0; i < kPoints; ++i) a(i) = stream.normal();
    const Eigen::VectorXd u = b * a + Eigen::VectorXd::Constant(kPoints, 2);
    made.input.emplace_back(a.data(), a.data() + kPoints);
    made.output.emplace_back(u.data(), u.data() + kPoints);
    made.splits.push_back(s < samples - 10 ? Split::train : Split::test);
  }
  return made;
}

TEST(SimpleBaselines, RidgeFindsALinearOperator) {
  const test::Scratch scratch;
  const auto errors = errors_of(write(scratch, linear(80)), 0);
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_LT(errors.at("ridge"), 1e-3);
  EXPECT_GT(errors.at("mean field"), 0.5);
  EXPECT_GT(errors.at("nearest sample"), 0.5);
}

TEST(SimpleBaselines, MeanAndNearestAreWhatTheyAreCalled) {
  const test::Scratch scratch;
  const Made made = linear(40);
  const auto errors = errors_of(write(scratch, made), 0);
  std::vector<float> mean(kPoints, 0);
  for (std::size_t s = 0; s < 30; ++s) {
    for (std::size_t i = 0; i < kPoints; ++i) mean[i] += made.output[s][i] / 30;
  }
  double of_mean = 0, of_nearest = 0;
  for (std::size_t s = 30; s < 40; ++s) {
    of_mean += relative_l2(mean, made.output[s]) / 10;
    std::size_t nearest = 0;
    double least = 1e300;
    for (std::size_t t = 0; t < 30; ++t) {
      double apart = 0;
      for (std::size_t i = 0; i < kPoints; ++i) apart += std::pow(made.input[t][i] - made.input[s][i], 2);
      if (apart < least) {
        least = apart;
        nearest = t;
      }
    }
    of_nearest += relative_l2(made.output[nearest], made.output[s]) / 10;
  }
  EXPECT_NEAR(errors.at("mean field"), of_mean, 1e-5);
  EXPECT_NEAR(errors.at("nearest sample"), of_nearest, 1e-5);
}

// Noise in place of an operator: the regression must see by leaving samples out that there is nothing to find.
TEST(SimpleBaselines, RidgeDoesNotFitNoise) {
  const test::Scratch scratch;
  Made made = linear(40);
  RandomStream stream(8, Purpose::test);
  for (auto& u : made.output) {
    for (float& value : u) value = static_cast<float>(5 + stream.normal());
  }
  const auto errors = errors_of(write(scratch, made), 0);
  EXPECT_LT(errors.at("ridge"), 1.15 * errors.at("mean field"));
}

TEST(SimpleBaselines, TimeStartsFromTheFirstFrame) {
  const test::Scratch scratch;
  RandomStream stream(9, Purpose::test);
  Made made;
  for (int s = 0; s < 40; ++s) {  // each frame is 1.5 times the one before
    made.input.emplace_back(kPoints, 0.0f);
    made.output.emplace_back();
    std::vector<float> first;
    for (std::int64_t i = 0; i < kPoints; ++i) first.push_back(static_cast<float>(stream.normal()));
    for (const float factor : {1.0f, 1.5f, 2.25f}) {
      for (const float value : first) made.output.back().push_back(factor * value);
    }
    made.splits.push_back(s < 30 ? Split::train : Split::test);
  }
  const auto errors = errors_of(write(scratch, made, 3), 1);
  // Frames 1 and 2 together: || (0.5, 1.25) || / || (1.5, 2.25) ||.
  EXPECT_NEAR(errors.at("persistence"), std::hypot(0.5, 1.25) / std::hypot(1.5, 2.25), 1e-5);
  EXPECT_LT(errors.at("ridge"), 1e-3);
  EXPECT_EQ(errors_of(write(scratch, made, 3), 0).count("persistence"), 0u);
  // The last of two known frames persists.
  EXPECT_NEAR(errors_of(write(scratch, made, 3), 2).at("persistence"), 0.75 / 2.25, 1e-5);
}

TEST(SimpleBaselines, FewSamplesAndLittleMemoryAreTaken) {
  const test::Scratch scratch;
  const std::string path = write(scratch, linear(12));  // two for training
  EXPECT_EQ(errors_of(path, 0).count("ridge"), 0u);
  const DatasetReader reader(write(scratch, linear(80)));
  const SimpleBaselines few(reader, reader.indices(Split::train), 0, 20 * sizeof(float) * 2 * kPoints);
  EXPECT_GE(few.samples(), 10);
  EXPECT_LE(few.samples(), 20);
  EXPECT_EQ(few.judge(reader, reader.indices(Split::test)).size(), 3u);
}

TEST(SimpleBaselines, CloudsOfDifferentSizesHaveTheMeanValue) {
  const test::Scratch scratch;
  SetDescription set;
  set.name = "clouds";
  set.geometry = Geometry::points;
  set.shape = {5};
  set.coordinates = {{"x", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1};
  set.generator = "{}";
  const std::vector<std::int64_t> counts{4, 6, 5};
  {
    DatasetWriter writer(scratch / "clouds.h5", set, {Split::train, Split::train, Split::test}, counts);
    for (std::size_t s = 0; s < 3; ++s) {
      const std::vector<float> x(static_cast<std::size_t>(counts[s]), 0.5f), u(x.size(), s == 0 ? 1.0f : 2.0f);
      writer.write(static_cast<std::int64_t>(s), x, {}, u);
    }
    writer.commit();
  }
  const auto errors = errors_of((scratch / "clouds.h5").string(), 0);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NEAR(errors.at("mean value"), 0.2, 1e-6);  // (4 * 1 + 6 * 2)/10 = 1.6 for 2
}

}  // namespace
}  // namespace lano::simple_baselines_test
