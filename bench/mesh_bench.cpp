#include "bench/mesh_bench.h"

#include <chrono>
#include <cmath>
#include <random>

#include "core/error.h"
#include "core/resident_memory.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/operator_model.h"
#include "runtime/operator.h"

namespace lano::bench {

nlohmann::json measure_mesh(std::int64_t points, bool cloud, int threads) {
  SetDescription set;
  set.geometry = cloud ? Geometry::points : Geometry::grid;
  const auto side = static_cast<std::int64_t>(std::ceil(std::sqrt(static_cast<double>(points))));
  set.shape = cloud ? Shape{972} : Shape{85, 85};  // as trained: Elasticity's points, Darcy's grid
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  LanoConfig config;
  const std::vector<double> spacing = cloud ? std::vector<double>{} : std::vector<double>{1.0 / 84, 1.0 / 84};
  ModelFile file;
  file.architecture = to_json(config, lano_shape(config, set, spacing));
  file.set = set;
  file.normaliser = {{{0, 0}, {1, 1}}, {{0}, {1}}, {{0}, {1}}};
  file.weights = copy_weights(*make_model(file.architecture, 1));
  const Operator op(std::move(file));

  Operator::Call call;
  if (!cloud) {
    points = side * side;
    call.mesh = {side, side};
  }
  const auto n = static_cast<std::size_t>(points);
  std::vector<float> coordinates(2 * n), input(n), output(n);
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(0, 1);
  for (std::size_t i = 0; i < n; ++i) {
    coordinates[2 * i] =
        cloud ? uniform(random) : static_cast<float>(i / static_cast<std::size_t>(side)) / static_cast<float>(side - 1);
    coordinates[2 * i + 1] =
        cloud ? uniform(random) : static_cast<float>(i % static_cast<std::size_t>(side)) / static_cast<float>(side - 1);
    input[i] = std::sin(5 * coordinates[2 * i]) + std::cos(7 * coordinates[2 * i + 1]);
  }
  const std::int64_t before = resident_high_water();
  const auto start = std::chrono::steady_clock::now();
  op.predict(coordinates, input, output, call);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::int64_t after = resident_high_water();
  for (const float value : output) {
    if (!std::isfinite(value)) fail_plainly("predicting on a large mesh", "the prediction is not finite");
  }
  const auto count = static_cast<double>(points);
  return {{"points", points},
          {"geometry", cloud ? "points" : "grid"},
          {"threads", threads},
          {"seconds", seconds},
          {"ns_per_point", seconds * 1e9 / count},
          {"points_per_s", count / seconds},
          {"peak_bytes", after - before},
          {"bytes_per_point", static_cast<double>(after - before) / count},
          {"resident_bytes", after}};
}

}  // namespace lano::bench
