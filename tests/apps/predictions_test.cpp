// One way from the model file to a number: what `lano eval` says equals the metrics over what `lano predict` wrote, for
// every geometry, task and switch, with the metrics written a second time here, in long double.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/child_process.h"
#include "data/dataset.h"
#include "runtime/random_model.h"
#include "scratch.h"

namespace lano::predictions_test {
namespace {

using nlohmann::json;

constexpr std::int64_t kSamples = 3;

enum class Coordinates { shared, each, ragged };

struct Place {
  std::string name;
  Geometry geometry;
  Shape shape;
  std::int64_t dims;
  Coordinates coordinates = Coordinates::shared;
  Shape trained{};          // on another resolution; empty: on this one
  bool common_grid = true;  // of the training samples, where they have grids
  bool displaced = false;   // the displacement from the mean mesh is an input
};

struct Case {
  Place place;
  std::string name;  // of the task or switch
  std::function<void(LanoConfig&)> change;
  std::vector<std::string> options{};  // of both commands
};

const std::vector<Place> kPlaces{
    {"line", Geometry::grid, {12}, 1},
    {"grid", Geometry::grid, {7, 6}, 2},
    {"grid each", Geometry::grid, {7, 6}, 2, Coordinates::each},
    {"grid each, trained so", Geometry::grid, {7, 6}, 2, Coordinates::each, {}, false},
    {"finer grid", Geometry::grid, {11, 13}, 2, Coordinates::shared, {7, 6}},
    {"space", Geometry::grid, {4, 3, 5}, 3},
    {"mesh", Geometry::mesh, {7, 6}, 2},
    {"mesh each", Geometry::mesh, {7, 6}, 2, Coordinates::each},
    {"mesh displaced", Geometry::mesh, {7, 6}, 2, Coordinates::each, {}, true, true},
    {"finer mesh displaced", Geometry::mesh, {9, 8}, 2, Coordinates::each, {7, 6}, true, true},
    {"cloud", Geometry::points, {40}, 2},
    {"cloud each", Geometry::points, {40}, 2, Coordinates::each},
    {"clouds of different sizes", Geometry::points, {40}, 2, Coordinates::ragged}};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const Place& place : kPlaces) {
    all.push_back({place, "steady", [](LanoConfig&) {}});
    all.push_back({place, "other agents", [](LanoConfig&) {}, {"--agents", "4"}});
    if (place.coordinates == Coordinates::ragged) continue;  // these are steady
    all.push_back({place, "autoregressive", [](LanoConfig& c) { c.task = Task::autoregressive; }});
    all.push_back({place, "longer", [](LanoConfig& c) { c.task = Task::autoregressive; }, {"--steps", "6"}});
    all.push_back({place, "shorter", [](LanoConfig& c) { c.task = Task::autoregressive; }, {"--steps", "2"}});
    all.push_back({place, "time conditional", [](LanoConfig& c) { c.task = Task::time_conditional; }});
  }
  for (const std::size_t p : {2u, 7u, 12u}) {  // a geometry for each sample
    all.push_back({kPlaces[p], "sum bias", [](LanoConfig& c) { c.bias = Bias::sum; }});
    all.push_back({kPlaces[p], "no bias", [](LanoConfig& c) { c.bias = Bias::none; }});
    all.push_back({kPlaces[p], "no stencil", [](LanoConfig& c) { c.dwc = false; }});
    all.push_back({kPlaces[p], "stencil by index", [](LanoConfig& c) { c.dwc_spacing = DwcSpacing::index; }});
    all.push_back({kPlaces[p], "edge padding", [](LanoConfig& c) { c.padding = Padding::edge; }});
    all.push_back({kPlaces[p], "latent agents", [](LanoConfig& c) { c.agent_tokens = Agents::latent; }});
    all.push_back({kPlaces[p], "sequence", [](LanoConfig& c) { c.pool = Pool::sequence; }});
    all.push_back({kPlaces[p], "order of the file", [](LanoConfig& c) { c.order = Order::file; }});
    all.push_back({kPlaces[p], "reference grid", [](LanoConfig& c) { c.position = Position::reference; }});
    all.push_back({kPlaces[p], "decoder of two layers", [](LanoConfig& c) { c.decoder = Decoder::mlp; }});
  }
  return all;
}

std::vector<float> points_of(const Place& place, std::int64_t sample, std::int64_t count) {
  const auto number = static_cast<std::uint64_t>(sample);
  if (place.geometry == Geometry::points) {
    std::vector<float> x = test::uniform(static_cast<std::size_t>(count * place.dims), 40 + number, 0.5);
    for (float& value : x) value += 0.5f;
    return x;
  }
  // Grids per sample lie elsewhere and are finer or coarser.
  std::vector<float> x = test::grid_points(place.shape);
  const float scale = 1 + 0.25f * static_cast<float>(sample), shift = 0.1f * static_cast<float>(sample);
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = shift + scale * x[i];
    if (place.geometry == Geometry::mesh && i % 2 == 1) x[i] += 0.1f * x[i - 1] * x[i - 1];
  }
  return x;
}

// A dataset of the place, and a model of random weights that was trained on such data.
void make_files(const Case& c, const LanoConfig& config, const std::filesystem::path& data,
                const std::filesystem::path& model) {
  const Place& place = c.place;
  SetDescription set = test::set_of(place.geometry, place.shape, place.dims, 1, 2);
  set.generator = "{}";
  if (config.task != Task::steady) set.time = {0.5, 0.75, 1.0, 1.25};
  SetDescription trained = set;
  if (!place.trained.empty()) trained.shape = place.trained;
  std::vector<double> spacing, origin;
  if (place.geometry == Geometry::grid && place.common_grid) {
    ASSERT_TRUE(uniform_grid_spacing(trained.shape, test::grid_points(trained.shape), &spacing));
    origin.assign(spacing.size(), 0.0);
  }
  MeanField mean;
  MeanField base;
  if (place.displaced) mean = {trained.shape, test::grid_points(trained.shape), {0.2, 0.3}};
  if (place.displaced && config.task != Task::autoregressive)
    base = {trained.shape, test::uniform(static_cast<std::size_t>(2 * trained.points()), 11), {1.5, 2}};
  write_model_file(model, test::random_model(config, trained, spacing, origin, mean, base));
  std::vector<std::int64_t> counts;
  for (std::int64_t s = 0; s < kSamples; ++s) counts.push_back(40 + (s - 1) * 13);
  const std::vector<Split> splits(static_cast<std::size_t>(kSamples), Split::test);
  const std::vector<float> shared =
      place.coordinates == Coordinates::shared ? points_of(place, 0, set.points()) : std::vector<float>{};
  const auto writer = place.coordinates == Coordinates::ragged
                          ? std::make_unique<DatasetWriter>(data, set, splits, counts)
                          : std::make_unique<DatasetWriter>(data, set, splits, shared);
  const std::size_t frames = set.time.empty() ? 1 : set.time.size();
  for (std::int64_t s = 0; s < kSamples; ++s) {
    const auto points = place.coordinates == Coordinates::ragged ? counts[static_cast<std::size_t>(s)] : set.points();
    const auto n = static_cast<std::size_t>(points);
    const auto number = static_cast<std::uint64_t>(s);
    writer->write(s, shared.empty() ? points_of(place, s, points) : std::vector<float>{},
                  test::uniform(n, 70 + number, 2), test::uniform(frames * n * 2, 90 + number));
  }
  writer->commit();
}

std::string output_of(std::vector<std::string> words, const std::vector<std::string>& options) {
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--threads", "1"});
  std::string text;
  ChildOptions child;
  child.output = &text;
  EXPECT_TRUE(run_child(LANO_PROGRAM, words, child).good()) << words[0];
  return text;
}

struct Errors {
  double relative_l2 = 0, max = 0;
};

Errors errors_of(std::span<const float> prediction, std::span<const float> truth) {
  long double above = 0, below = 0, most = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const long double apart = static_cast<long double>(prediction[i]) - static_cast<long double>(truth[i]);
    above += apart * apart;
    below += static_cast<long double>(truth[i]) * static_cast<long double>(truth[i]);
    most = std::max(most, std::abs(apart));
  }
  return {static_cast<double>(std::sqrt(above / below)), static_cast<double>(most)};
}

void expect_one_way(const Case& c, const std::vector<std::string>& engine) {
  LanoConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 8;
  config.agents = 6;
  c.change(config);
  std::vector<std::string> options = c.options;
  options.insert(options.end(), engine.begin(), engine.end());
  const test::Scratch scratch;
  const auto data = scratch / "data.h5", model = scratch / "model.safetensors", written = scratch / "written.h5";
  make_files(c, config, data, model);
  output_of({"predict", model.string(), "--data", data.string(), "--split", "test", "--out", written.string()},
            options);
  const json said = json::parse(output_of({"eval", model.string(), "--data", data.string(), "--json"}, options));

  const DatasetReader truth_file(data), prediction_file(written);
  const Samples truth = truth_file.read(truth_file.indices(Split::test)),
                prediction = prediction_file.read(prediction_file.indices("all"));
  ASSERT_EQ(prediction.count, kSamples);
  const std::int64_t first = config.task == Task::autoregressive ? 1 : 0,  // the first frame is given
      known = std::min(truth.frames, prediction.frames);
  std::vector<double> steps(static_cast<std::size_t>(known - first));
  double sum = 0;
  for (std::int64_t s = 0; s < kSamples; ++s) {
    ASSERT_EQ(prediction.points_of(s), truth.points_of(s));
    const auto frame = static_cast<std::size_t>(2 * truth.points_of(s));
    const auto part = [&](const Samples& samples, std::int64_t from, std::int64_t count) {
      return samples.output_of(s, 2).subspan(static_cast<std::size_t>(from) * frame,
                                             static_cast<std::size_t>(count) * frame);
    };
    const Errors errors = errors_of(part(prediction, first, known - first), part(truth, first, known - first));
    const json& row = said["per_sample"][static_cast<std::size_t>(s)];
    EXPECT_NEAR(row["relative_l2"].get<double>(), errors.relative_l2, 1e-12 * errors.relative_l2);
    EXPECT_NEAR(row["max_error"].get<double>(), errors.max, 1e-12 * errors.max);
    EXPECT_GT(errors.relative_l2, 0.01);  // random weights predict nothing
    sum += errors.relative_l2;
    for (std::size_t t = 0; t < steps.size(); ++t) {
      const auto at = first + static_cast<std::int64_t>(t);
      steps[t] += errors_of(part(prediction, at, 1), part(truth, at, 1)).relative_l2 / static_cast<double>(kSamples);
    }
  }
  EXPECT_NEAR(said["relative_l2"]["mean"].get<double>(), sum / static_cast<double>(kSamples), 1e-12 * sum);
  if (config.task == Task::steady) {
    EXPECT_FALSE(said.contains("per_step"));
    return;
  }
  ASSERT_EQ(said["per_step"]["relative_l2"].size(), steps.size());
  EXPECT_EQ(said["per_step"]["first_frame"], first);
  for (std::size_t t = 0; t < steps.size(); ++t)
    EXPECT_NEAR(said["per_step"]["relative_l2"][t].get<double>(), steps[t], 1e-12 * steps[t]);
}

TEST(EvalIsPredict, FusedKernels) {
  for (const Case& c : cases()) {
    SCOPED_TRACE(fmt::format("{}, {}", c.place.name, c.name));
    expect_one_way(c, {});
  }
}

#ifdef LANO_WITH_TORCH
// LibTorch takes a second to start: a place and a switch of each kind.
TEST(EvalIsPredict, CompositeEngine) {
  const std::vector<Case> all = cases();
  for (std::size_t i = 0; i < all.size(); i += 7) {
    SCOPED_TRACE(fmt::format("{}, {}", all[i].place.name, all[i].name));
    expect_one_way(all[i], {"--engine", "composite"});
  }
}
#endif

}  // namespace
}  // namespace lano::predictions_test
