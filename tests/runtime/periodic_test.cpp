// Periodic axes: the runtime against the equations in double, rolled fields, and points decoded across the seam.
#include <gtest/gtest.h>

#include <cmath>

#include "naive_lano.h"
#include "random_model.h"
#include "runtime/lano_weights.h"
#include "runtime/operator.h"
#include "scratch.h"

namespace lano::periodic_test {
namespace {

LanoConfig small() {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 12;
  c.agents = 4;
  c.ffn_stencil = true;
  return c;
}

// A grid on the unit box whose points begin at `origin`; periodic axes have n points to the period, others both ends.
std::vector<double> spacing_of(const Shape& mesh, const std::vector<bool>& periodic) {
  std::vector<double> step;
  for (std::size_t a = 0; a < mesh.size(); ++a)
    step.push_back(1.0 / static_cast<double>(!periodic.empty() && periodic[a] ? mesh[a] : mesh[a] - 1));
  return step;
}

std::vector<float> points_of(const Shape& mesh, const std::vector<double>& step, const std::vector<double>& origin) {
  std::vector<float> points;
  for (std::int64_t p = 0; p < element_count(mesh); ++p) {
    std::vector<float> x(mesh.size());
    std::int64_t rest = p;
    for (std::size_t a = mesh.size(); a-- > 0; rest /= mesh[a])
      x[a] = static_cast<float>(origin[a] + step[a] * static_cast<double>(rest % mesh[a]));
    points.insert(points.end(), x.begin(), x.end());
  }
  return points;
}

struct Trained {
  Trained(const LanoConfig& config, const Shape& mesh, std::vector<bool> periodic, bool blind = false) {
    SetDescription set = test::set_of(Geometry::grid, mesh, static_cast<std::int64_t>(mesh.size()), 1, 2);
    set.periodic = std::move(periodic);
    file = test::random_model(config, set, spacing_of(mesh, set.periodic), std::vector<double>(mesh.size(), 0.0));
    if (!blind) return;
    // The first columns of the encoder read the coordinates: without them a network knows places by their values only.
    Tensor& encoder = file.weights.at("encoder1.weight");
    for (std::size_t i = 0; i < encoder.values.size(); ++i) {
      if (i % static_cast<std::size_t>(encoder.shape[1]) < mesh.size()) encoder.values[i] = 0;
    }
  }

  // The same by loops in double: at the places `first`, the stencil reaching `reach` points.
  std::vector<float> naive(const std::vector<float>& points, const std::vector<float>& input, const Shape& mesh,
                           const std::vector<double>& reach, const std::vector<double>& first,
                           const Shape& patches) const {
    test::NaiveLano::Weights weights;
    for (const auto& [name, tensor] : file.weights) weights[name].assign(tensor.values.begin(), tensor.values.end());
    const LanoParts parts = lano_parts(file, "testing");
    test::NaiveLano lano(weights, parts.config, parts.shape);
    test::Matrix features;
    const std::size_t dims = mesh.size();
    for (std::size_t n = 0; n < input.size(); ++n) {
      std::vector<double> row;
      for (std::size_t a = 0; a < dims; ++a) {
        row.push_back((points[n * dims + a] - file.normaliser.coordinates.shift()[a]) /
                      file.normaliser.coordinates.scale()[a]);
      }
      row.push_back((input[n] - file.normaliser.input.shift()[0]) / file.normaliser.input.scale()[0]);
      features.push_back(row);
    }
    std::vector<float> answer;
    for (const std::vector<double>& row : lano.forward(features, mesh, reach, patches, 0, first)) {
      for (std::size_t c = 0; c < row.size(); ++c)
        answer.push_back(
            static_cast<float>(row[c] * file.normaliser.output.scale()[c] + file.normaliser.output.shift()[c]));
    }
    return answer;
  }

  ModelFile file;
};

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0, norm = 0;
  EXPECT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(sum / norm);
}

Operator::Call on(const Shape& mesh) {
  Operator::Call call;
  call.mesh = mesh;
  return call;
}

TEST(Periodic, AgreesWithTheEquationsAtEveryResolution) {
  struct Asked {
    Shape mesh;
    std::vector<double> origin, reach, first;  // in trained points; no reach: the trained grid
    std::int64_t agents = 4;
    Shape patches{};
  };
  const Trained trained(small(), {6, 8}, {true, true});
  Operator op(trained.file);
  for (const Asked& asked :
       {Asked{{6, 8}, {0, 0}, {}, {}}, Asked{{12, 16}, {0, 0}, {2, 2}, {0, 0}}, Asked{{9, 8}, {0, 0}, {1.5, 1}, {0, 0}},
        Asked{{3, 4}, {0, 0}, {0.5, 0.5}, {0, 0}}, Asked{{6, 8}, {1.0 / 3, -0.25}, {1, 1}, {2, -2}},
        Asked{{12, 24}, {0.05, 0.8}, {2, 3}, {0.3, 6.4}}, Asked{{12, 16}, {0.05, 0}, {2, 2}, {0.3, 0}, 12, {3, 4}}}) {
    SCOPED_TRACE(shape_text(asked.mesh) + " at " + std::to_string(asked.origin[0]));
    const auto points = points_of(asked.mesh, spacing_of(asked.mesh, {true, true}), asked.origin);
    const auto input = test::uniform(points.size() / 2, 7, 2);
    op.use_agents(asked.agents);
    EXPECT_LT(distance(op.predict(points, input, on(asked.mesh)),
                       trained.naive(points, input, asked.mesh, asked.reach, asked.first, asked.patches)),
              1e-5);
  }
}

TEST(Periodic, SomeAxesOnlyAndInEveryDimension) {
  const Trained plane(small(), {6, 5}, {true, false});
  for (const auto& [mesh, reach] :
       {std::pair(Shape{6, 5}, std::vector<double>{}), std::pair(Shape{9, 9}, std::vector<double>{1.5, 2})}) {
    const auto points = points_of(mesh, spacing_of(mesh, {true, false}), {0, 0});
    const auto input = test::uniform(points.size() / 2, 8, 2);
    EXPECT_LT(distance(Operator(plane.file).predict(points, input, on(mesh)),
                       plane.naive(points, input, mesh, reach, {}, {})),
              1e-5);
  }
  for (const auto& [mesh, finer] : {std::pair(Shape{10}, Shape{25}), std::pair(Shape{4, 5, 3}, Shape{8, 5, 6})}) {
    const std::vector<bool> periodic(mesh.size(), true);
    const Trained trained(small(), mesh, periodic);
    std::vector<double> reach;
    for (std::size_t a = 0; a < mesh.size(); ++a)
      reach.push_back(static_cast<double>(finer[a]) / static_cast<double>(mesh[a]));
    const auto points = points_of(finer, spacing_of(finer, periodic), std::vector<double>(mesh.size(), 0.0));
    const auto input = test::uniform(points.size() / mesh.size(), 8, 2);
    EXPECT_LT(distance(Operator(trained.file).predict(points, input, on(finer)),
                       trained.naive(points, input, finer, reach, {}, {})),
              1e-5);
  }
}

// values [n1, n2, channels] moved on by (i, j) points.
std::vector<float> rolled(const std::vector<float>& values, const Shape& mesh, std::int64_t i, std::int64_t j) {
  std::vector<float> out(values.size());
  const auto channels = static_cast<std::int64_t>(values.size()) / element_count(mesh);
  for (std::int64_t p = 0; p < element_count(mesh); ++p) {
    const std::int64_t to = (p / mesh[1] + i) % mesh[0] * mesh[1] + (p % mesh[1] + j) % mesh[1];
    for (std::int64_t c = 0; c < channels; ++c)
      out[static_cast<std::size_t>(to * channels + c)] = values[static_cast<std::size_t>(p * channels + c)];
  }
  return out;
}

// How far the prediction for a rolled input is from the rolled prediction.
double seam(const Trained& trained, const Shape& mesh, std::int64_t i, std::int64_t j) {
  const Operator op(trained.file);
  const auto points = points_of(mesh, spacing_of(mesh, {true, true}), {0, 0});
  const auto input = test::uniform(points.size() / 2, 9, 2);
  return distance(op.predict(points, rolled(input, mesh, i, j), on(mesh)),
                  rolled(op.predict(points, input, on(mesh)), mesh, i, j));
}

TEST(Periodic, ARolledFieldGivesTheRolledAnswer) {
  LanoConfig config = small();
  config.bias = Bias::none;  // agents that prefer regions know places
  const Shape mesh{8, 12}, finer{16, 36}, between{12, 18};
  const Trained pooled(config, mesh, {true, true}, true);  // 2 x 2 patches: a roll by one maps patches onto patches
  EXPECT_LT(seam(pooled, mesh, 4, 6), 2e-6);
  EXPECT_LT(seam(pooled, mesh, 0, 6), 2e-6);
  EXPECT_LT(seam(pooled, finer, 8, 18), 2e-6);
  EXPECT_LT(seam(pooled, between, 6, 9), 2e-6);
  config.agent_tokens = Agents::latent;  // no patches: any roll will do
  const Trained latent(config, mesh, {true, true}, true);
  EXPECT_LT(seam(latent, mesh, 3, 1), 2e-6);
  EXPECT_LT(seam(latent, finer, 5, 7), 2e-6);
  EXPECT_LT(seam(latent, between, 1, 17), 2e-6);
  const Trained flat(config, mesh, {}, true);  // and without the flags there is an edge
  EXPECT_GT(seam(flat, mesh, 3, 1), 1e-2);
  const Trained half(config, mesh, {true, false}, true);
  EXPECT_GT(seam(half, mesh, 3, 1), 1e-2);
}

// A field on a grid that begins elsewhere is the same field.
TEST(Periodic, WhereTheGridBeginsDoesNotMatter) {
  const Shape mesh{16, 24};
  const Trained trained(small(), {8, 12}, {true, true}, true);
  const Operator op(trained.file);
  const auto step = spacing_of(mesh, {true, true});
  const auto here = points_of(mesh, step, {0, 0}), there = points_of(mesh, step, {5.0 / 16, -7.0 / 24 + 2});
  const auto input = test::uniform(here.size() / 2, 10, 2);
  // Point (i, j) of the grid there is point (i + 5, j - 7) of the grid here.
  EXPECT_LT(distance(op.predict(there, rolled(input, mesh, 16 - 5, 7), on(mesh)),
                     rolled(op.predict(here, input, on(mesh)), mesh, 16 - 5, 7)),
            2e-6);
}

TEST(Periodic, NewPointsAreDecodedAcrossTheSeam) {
  const Shape mesh{9, 12};
  const Trained trained(small(), {6, 8}, {true, true}, true);
  const Operator op(trained.file);
  const auto points = points_of(mesh, spacing_of(mesh, {true, true}), {0, 0});
  const auto input = test::uniform(points.size() / 2, 11, 2);
  const Prepared prepared = op.prepare(points, input, on(mesh));
  EXPECT_LT(distance(prepared.decode(points, input), op.predict(points, input, on(mesh))), 2e-6);
  // Between the last point and the first, and periods away.
  const std::vector<float> between{0.97f, 0.3f, 0.5f, 0.98f, 0.96f, 0.99f}, a{0.2f, -0.4f, 1.0f};
  std::vector<float> away = between;
  for (std::size_t i = 0; i < away.size(); ++i) away[i] += i % 2 == 0 ? -1.0f : 2.0f;
  EXPECT_LT(distance(prepared.decode(away, a), prepared.decode(between, a)), 1e-5);
  for (const float x : prepared.decode(std::vector<float>{3e38f, -3e38f}, std::vector<float>{0.5f}))
    EXPECT_TRUE(std::isfinite(x));
}

TEST(Periodic, AGridThatIsNotOnePeriodIsRefused) {
  const Trained trained(small(), {6, 8}, {true, true});
  const Operator op(trained.file);
  const Shape mesh{13, 16};  // the first row once more at the end
  const auto points = points_of(mesh, {1.0 / 12, 1.0 / 16}, {0, 0});
  EXPECT_ERROR_WITH(op.predict(points, test::uniform(points.size() / 2, 1), on(mesh)), "one whole period on axis 0");
}

// What is not periodic is written as it was before there were flags.
TEST(Periodic, ModelsWithoutItKeepTheirBytes) {
  const Trained plain(small(), {6, 8}, {}), no(small(), {6, 8}, {false, false}), yes(small(), {6, 8}, {false, true});
  EXPECT_FALSE(plain.file.architecture.contains("periodic"));
  EXPECT_EQ(plain.file.architecture.dump(), no.file.architecture.dump());
  EXPECT_EQ(yes.file.architecture.at("periodic").dump(), "[false,true]");
  EXPECT_FALSE(to_json(plain.file.set).contains("periodic"));
  test::Scratch scratch;
  for (const Trained* each : {&plain, &yes}) {
    write_model_file(scratch / "a.safetensors", each->file);
    const ModelFile read = read_model_file(scratch / "a.safetensors");
    EXPECT_EQ(read.architecture, each->file.architecture);
    EXPECT_EQ(read.set.periodic, each->file.set.periodic);
  }
  ModelFile damaged = yes.file;
  damaged.architecture["periodic"] = {true};
  EXPECT_ERROR_WITH(Operator{damaged}, "sizes do not fit together");
  damaged.set.periodic = {true};
  write_model_file(scratch / "b.safetensors", damaged);
  EXPECT_ERROR_WITH(read_model_file(scratch / "b.safetensors"), "one flag per axis");
  damaged.architecture["periodic"] = {1, 0};
  EXPECT_ERROR_WITH(Operator{damaged}, "the file is damaged");
}

}  // namespace
}  // namespace lano::periodic_test
