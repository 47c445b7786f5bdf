#include "normalise/displacement.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/random.h"

namespace lano::displacement_of_meshes_test {
namespace {

// A field on a mesh: channels at (s, t) in 0..1 along two axes.
template <class Field>
std::vector<float> on_mesh(const Shape& mesh, Field&& field) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < mesh[0]; ++i) {
    for (std::int64_t j = 0; j < mesh[1]; ++j) {
      for (const double value : field(static_cast<double>(i) / static_cast<double>(mesh[0] - 1),
                                      static_cast<double>(j) / static_cast<double>(mesh[1] - 1)))
        values.push_back(static_cast<float>(value));
    }
  }
  return values;
}

std::vector<float> all_of(const Displacement& moved, std::span<const float> x) {
  return moved.of(x, 0, 0, static_cast<std::int64_t>(x.size() / 2));
}

// Points that crowd: from 1 to 41 along the second axis, in steps that grow by a half.
std::array<double, 2> crowded(double s, double t) { return {10 * s, std::pow(41.0, t)}; }
// How far they were moved: bilinear, a hundredth of the mesh's size.
std::array<double, 2> move(double s, double t) { return {0.1 * s - 0.2 * t, 0.3 * s * t - 0.1}; }
std::array<double, 2> moved_mesh(double s, double t) {
  return {crowded(s, t)[0] + move(s, t)[0], crowded(s, t)[1] + move(s, t)[1]};
}

TEST(Displacement, OnTheTrainedMeshItIsTheDifferenceToTheBit) {
  const Shape mesh{5, 9};
  const MeanField mean(mesh, on_mesh(mesh, crowded), {2, 0.5});
  const std::vector<float> x = on_mesh(mesh, moved_mesh);
  const Displacement moved(mean, mesh);
  EXPECT_TRUE(moved.pointwise());
  const std::vector<float> found = all_of(moved, x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double apart = static_cast<double>(x[i]) - static_cast<double>(mean.values()[i]);
    EXPECT_EQ(found[i], static_cast<float>(apart / (i % 2 == 0 ? 2 : 0.5))) << i;
  }
  // Some of the points, from their own coordinates alone.
  const std::vector<float> some = moved.of(std::span(x).subspan(2 * 7, 2 * 4), 7, 7, 4);
  EXPECT_EQ(some, std::vector<float>(found.begin() + 14, found.begin() + 22));
}

// The mean mesh between trained points is off by more than the points were moved; the displacement is exact there.
TEST(Displacement, OnAFinerMeshTheDisplacementIsInterpolatedAndNotTheMesh) {
  const Shape trained{5, 9}, fine{9, 17};
  const MeanField mean(trained, on_mesh(trained, crowded), {0.1, 0.1});
  const std::vector<float> x = on_mesh(fine, moved_mesh), truth = on_mesh(fine, move);
  const Displacement moved(mean, fine);
  EXPECT_FALSE(moved.pointwise());
  const std::vector<float> found = all_of(moved, x), mesh = mean.resampled(fine);
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(found[i], truth[i] / 0.1f, 1e-4) << i;  // float32 at 41 holds 4e-6, of a scale of 0.1
    largest = std::max(largest, std::abs(static_cast<double>(x[i] - mesh[i] - truth[i])));
  }
  EXPECT_GT(largest, 0.5);  // the interpolated mean mesh would have erred by more than any point was moved, 0.3
  // Some of the points, from the coordinates of all.
  EXPECT_EQ(moved.of(x, 0, 30, 50), std::vector<float>(found.begin() + 60, found.begin() + 160));
}

// Bilinear meshes are the same between their points, at any extents and ends.
TEST(Displacement, PointsOfAnotherMeshAreMovedBySoMuch) {
  const auto mesh_at = [](double s, double t) { return std::array<double, 2>{1 + 2 * s + 3 * t + s * t, s - 2 * t}; };
  const MeanField mean({5, 4}, on_mesh({5, 4}, mesh_at), {2, 0.5});
  for (const Shape& shape : {Shape{5, 4}, Shape{9, 7}, Shape{3, 2}, Shape{8, 3}, Shape{4, 9}}) {
    for (const std::vector<double>& stretch : {std::vector<double>{}, {0.75, 1}, {0.5, 2.0 / 3}}) {
      const auto here = [&](double s, double t) {
        return stretch.empty() ? mesh_at(s, t) : mesh_at(s * stretch[0], t * stretch[1]);
      };
      const std::vector<float> once = on_mesh(shape, here);
      std::vector<float> twice = once;
      for (float& value : twice) value *= 2;
      const std::vector<float> found = all_of(Displacement(mean, shape, {}, stretch), twice);
      for (std::size_t i = 0; i < once.size(); ++i)
        EXPECT_NEAR(found[i], once[i] / (i % 2 == 0 ? 2 : 0.5), 1e-5) << shape_text(shape) << " " << i;
    }
  }
}

// 4 points on a period of 4: the displacement between the last and the first is that between any two. Coordinates
// continue: x = 0, 1, 2, 3 is followed by 3.5.
TEST(Displacement, APeriodicAxisHasNoEnd) {
  const MeanField mean({4}, {0, 1, 2, 3}, {2});
  const std::vector<float> moves{0, 0.1f, 0.2f, 0.3f, 0.4f, 0.3f, 0.2f, 0.1f};
  std::vector<float> x(8);
  for (std::size_t i = 0; i < 8; ++i) x[i] = 0.5f * static_cast<float>(i) + moves[i];
  const std::vector<float> found = Displacement(mean, {8}, {true}).of(x, 0, 0, 8);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_NEAR(found[i], moves[i] / 2, 1e-6) << i;
  // A coarser mesh: every second point.
  const std::vector<float> coarse = Displacement(mean, {2}, {true}).of(std::vector<float>{0.5f, 2}, 0, 0, 2);
  EXPECT_FLOAT_EQ(coarse[0], 0.25f);
  EXPECT_FLOAT_EQ(coarse[1], 0);
}

// The displacement is linear in the coordinates: w (of(x + e) - of(x)) = pull_back(w) e for any w and e; and it is
// what products of its matrices and its mean give.
TEST(Displacement, ItsDerivativeAndItsMatricesAreThoseOfTheMap) {
  RandomStream stream(5, Purpose::test);
  const Shape trained{5, 6};
  const MeanField mean(trained, on_mesh(trained, crowded), {0.5, 0.25});
  struct Case {
    Shape mesh;
    std::vector<bool> periodic;
    std::vector<double> stretch;
  };
  for (const Case& c : {Case{{5, 6}, {}, {}}, Case{{9, 11}, {}, {}}, Case{{3, 13}, {}, {}}, Case{{8, 4}, {}, {0.9, 1}},
                        Case{{10, 7}, {true, false}, {}}, Case{{2, 12}, {true, true}, {}}}) {
    const Displacement moved(mean, c.mesh, c.periodic, c.stretch);
    const auto size = static_cast<std::size_t>(2 * element_count(c.mesh));
    std::vector<float> x(size), nearby(size);
    std::vector<double> w(size), back(size, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
      x[i] = static_cast<float>(stream.normal());
      nearby[i] = static_cast<float>(stream.normal());
      w[i] = stream.normal();
    }
    const std::vector<float> here = all_of(moved, x), there = all_of(moved, nearby);
    moved.pull_back(w, back);
    double left = 0, right = 0, magnitude = 0;
    for (std::size_t i = 0; i < size; ++i) {
      left += w[i] * (static_cast<double>(there[i]) - static_cast<double>(here[i]));
      right += back[i] * (static_cast<double>(nearby[i]) - static_cast<double>(x[i]));
      magnitude += std::abs(w[i] * static_cast<double>(here[i]));
    }
    EXPECT_NEAR(left, right, 1e-6 * magnitude) << shape_text(c.mesh);  // a few float32 roundings of each term

    const std::vector<double> rows = moved.matrix(0), columns = moved.matrix(1);
    const std::vector<float> at = moved.mean();
    const auto n = static_cast<std::size_t>(c.mesh[0]), m = static_cast<std::size_t>(c.mesh[1]);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < m; ++j) {
        for (std::size_t d = 0; d < 2; ++d) {
          double sum = 0;
          for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t l = 0; l < m; ++l)
              sum += rows[i * n + k] * columns[j * m + l] * static_cast<double>(x[(k * m + l) * 2 + d]);
          }
          const std::size_t p = (i * m + j) * 2 + d;
          const double truth = (sum - static_cast<double>(at[p])) / mean.scale()[d];
          EXPECT_NEAR(here[p], truth, 1e-6 * (std::abs(truth) + 41 / mean.scale()[d])) << shape_text(c.mesh);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lano::displacement_of_meshes_test
