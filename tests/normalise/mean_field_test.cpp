#include "normalise/mean_field.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace lano::mean_field_test {
namespace {

// x = 1 + 2i + 3j + ij in units of the extents: bilinear in the indices, so that linear interpolation is exact.
std::vector<float> bilinear(const Shape& shape, double factor = 1) {
  std::vector<float> points;
  for (std::int64_t i = 0; i < shape[0]; ++i) {
    for (std::int64_t j = 0; j < shape[1]; ++j) {
      const double s = static_cast<double>(i) / static_cast<double>(shape[0] - 1),
                   t = static_cast<double>(j) / static_cast<double>(shape[1] - 1);
      points.push_back(static_cast<float>(factor * (1 + 2 * s + 3 * t + s * t)));
      points.push_back(static_cast<float>(factor * (s - 2 * t)));
    }
  }
  return points;
}

TEST(MeanField, MeanAndDeviationAreThoseOfTheSamples) {
  RandomStream stream(3, Purpose::test);
  const Shape shape{3, 2};
  MeanFieldFit fit(shape);
  std::vector<std::vector<float>> samples(5, std::vector<float>(18));
  for (auto& sample : samples) {
    for (std::size_t i = 0; i < sample.size(); ++i)  // the third coordinate is the same in all samples
      sample[i] = i % 3 == 2 ? 0.1f * static_cast<float>(i) : static_cast<float>(1000 + stream.normal());
    fit.add(sample);
  }
  const MeanField mesh = fit.result();
  ASSERT_EQ(mesh.channels(), 3);
  std::vector<double> squares(3, 0);
  for (std::size_t i = 0; i < 18; ++i) {
    double mean = 0;
    for (const auto& sample : samples) mean += sample[i] / 5.0;
    EXPECT_NEAR(mesh.values()[i], mean, 1e-4);  // float32 at 1000
    for (const auto& sample : samples) squares[i % 3] += (sample[i] - mean) * (sample[i] - mean) / 30;
  }
  EXPECT_NEAR(mesh.scale()[0], std::sqrt(squares[0]), 1e-6);
  EXPECT_NEAR(mesh.scale()[1], std::sqrt(squares[1]), 1e-6);
  EXPECT_EQ(mesh.scale()[2], 1);
}

// A coordinate that does not move, computed and stored in float32, differs by a few roundings: no unit for a network.
TEST(MeanField, RoundingIsNoDeviation) {
  MeanFieldFit still({2});
  still.add(std::vector<float>{40 + 1.1e-5f, 1});
  still.add(std::vector<float>{40 - 1.1e-5f, 1});  // float32 at 40 has steps of 3.8e-6: three of them
  EXPECT_EQ(still.result().scale(), std::vector<double>{1});
  MeanFieldFit moving({2});
  moving.add(std::vector<float>{40 + 1e-3f, 1});
  moving.add(std::vector<float>{40 - 1e-3f, 1});
  EXPECT_NEAR(moving.result().scale()[0], 1e-3 / std::sqrt(2.0), 1e-5);
}

TEST(MeanField, OtherExtentsAreTheSameMesh) {
  const MeanField mesh({5, 4}, bilinear({5, 4}), {2, 0.5});
  for (const Shape& shape : {Shape{5, 4}, Shape{9, 7}, Shape{3, 2}, Shape{8, 3}}) {
    const std::vector<float> found = mesh.resampled(shape), truth = bilinear(shape);
    ASSERT_EQ(found.size(), truth.size());
    for (std::size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(found[i], truth[i], 1e-6) << shape_text(shape);
  }
  EXPECT_EQ(mesh.resampled({1, 1}), (std::vector<float>{1, 0}));
}

// A mesh that ends before the whole one does: its places are those of its own points, and a little beyond the end of
// the trained mesh the field continues unchanged.
TEST(MeanField, AMeshThatEndsElsewhereIsFollowedThere) {
  const MeanField mesh({5, 4}, bilinear({5, 4}), {2, 0.5});
  for (const std::vector<double>& stretch : {std::vector<double>{0.75, 1}, {0.5, 2.0 / 3}, {1.125, 1.25}}) {
    const Shape asked{7, 3};
    const std::vector<float> found = mesh.resampled(asked, {}, stretch);
    for (std::size_t p = 0; p < 21; ++p) {
      const double s = stretch[0] * static_cast<double>(p / 3) / 6, t = stretch[1] * static_cast<double>(p % 3) / 2;
      EXPECT_NEAR(found[2 * p], 1 + 2 * s + 3 * t + s * t, 1e-5);
      EXPECT_NEAR(found[2 * p + 1], s - 2 * t, 1e-5);
    }
  }
}

// 4 points on a period of 4: between the last and the first lies a step like any other.
TEST(MeanField, APeriodicAxisHasNoEnd) {
  const MeanField field({4, 2}, {0, 10, 1, 11, 2, 12, 3, 13}, {1});
  EXPECT_EQ(field.resampled({8, 2}, {true, false}),
            (std::vector<float>{0, 10, 0.5f, 10.5f, 1, 11, 1.5f, 11.5f, 2, 12, 2.5f, 12.5f, 3, 13, 1.5f, 11.5f}));
  EXPECT_EQ(field.resampled({2, 3}, {true, false}), (std::vector<float>{0, 5, 10, 2, 7, 12}));
  // Coordinates continue: x = 0, 1, 2, 3 is followed by 3.5.
  EXPECT_EQ(MeanField({4}, {0, 1, 2, 3}, {1}).continued({8}, {true}),
            (std::vector<float>{0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f}));
}

TEST(MeanField, ALineOfOnePointIsTaken) {
  const MeanField mesh({1}, {3}, {1});
  EXPECT_EQ(mesh.resampled({4}), (std::vector<float>{3, 3, 3, 3}));
}

}  // namespace
}  // namespace lano::mean_field_test
