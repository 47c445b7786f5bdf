// Every operator of the registry can learn: eight samples of a benchmark it takes, by heart, to below 5 % in bounded
// time.
#include <fmt/format.h>

#include <map>

#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
#include "libtorch/operator_model.h"
#include "pde/elasticity_problem.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano::overfit_test {
namespace {

constexpr std::int64_t kSamples = 8, kTimes = 25;

// Eight samples, written many times over: an epoch of many steps, since each ends with a checkpoint.
std::filesystem::path eight_of(const Problem& problem, const std::filesystem::path& path) {
  generate_dataset(path, problem.describe(), make_splits(kSamples * kTimes, 0, 0), problem.coordinates(),
                   [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) {
                     return problem.make(i % kSamples, attempt, to);
                   });
  return path;
}

// Small sizes, 800 steps at a rate of 3e-3. The U-nets, which have a hundred times the weights, are narrower and need
// half of that; attention without a learned place in space and the two smallest models need more, some at a lower rate.
TrainConfig by_heart(const std::string& model, const std::filesystem::path& data) {
  struct Way {
    std::int64_t width = 32, steps = 800;
    double rate = 3e-3;
  };
  static const std::map<std::string, Way> kWays{{"u-fno", {16, 400}},       {"u-no", {16, 400}},
                                                {"lsm", {16, 400}},         {"oformer", {32, 1600}},
                                                {"ht-net", {32, 1600}},     {"factformer", {32, 1600}},
                                                {"ono", {32, 2400}},        {"deeponet", {64, 8000}},
                                                {"ano", {64, 10000}},       {"galerkin", {32, 4000, 1e-3}},
                                                {"gnot", {64, 3200, 1e-3}}, {"softmax", {32, 2000, 1e-3}}};
  const auto found = kWays.find(model);
  const Way way = found == kWays.end() ? Way{} : found->second;
  TrainConfig config;
  config.data = data.string();
  config.model = model;
  config.lano.layers = 2;
  config.lano.heads = 4;
  config.lano.width = way.width;
  config.lano.agents = 36;
  config.baseline.modes = 8;
  config.baseline.slices = 16;
  config.baseline.features = 16;
  config.baseline.latent_grid = 32;
  config.batch = 4;
  config.epochs = way.steps * config.batch / (kSamples * kTimes);
  config.clip = 1;
  config.schedule.learning_rate = way.rate;
  config.selection = Selection::last;
  config.checkpoint_minutes = 0;
  return config;
}

void expect_learned(const TrainConfig& config, const std::filesystem::path& run) {
  const TrainResult result = train(config, run);
  const LoadedModel trained = load_model(run / "model.safetensors");
  const DatasetReader reader(config.data);
  const Judged learned =
      judge(*trained.predictor, reader.description(), reader.read(std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  const double error = learned.evaluation.relative_l2.summary.mean;
  fmt::print("{}: relative L2 {:.4f} on the samples learned, {} parameters, {:.0f} s\n", config.model, error,
             result.parameters, result.seconds);
  EXPECT_LT(error, 0.05);
  EXPECT_LT(result.seconds, 600);
}

std::string plain_name(const ::testing::TestParamInfo<std::string>& each) {
  std::string name = each.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
}

class OverfitFull : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, OverfitFull, ::testing::ValuesIn(model_names()), plain_name);

// Darcy flow at 22x22 points, the grid of the smoke preset, which every model takes.
TEST_P(OverfitFull, EightSamplesByHeart) {
  test::Scratch scratch;
  DarcyConfig config;
  config.resolution = 85;
  config.stride = 4;
  expect_learned(by_heart(GetParam(), eight_of(DarcyProblem(config), scratch / "darcy.h5")), scratch / "run");
}

// The spectral models see clouds through geo-FNO's projection.
class OverfitCloudFull : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Spectral, OverfitCloudFull,
                         ::testing::Values("fno", "geo-fno", "f-fno", "u-fno", "u-no", "wmt", "lsm"), plain_name);

TEST_P(OverfitCloudFull, EightSamplesOfACloudByHeart) {
  test::Scratch scratch;
  TrainConfig config = by_heart(GetParam(), eight_of(ElasticityProblem(ElasticityConfig{}), scratch / "elasticity.h5"));
  config.lano.width = 16;
  expect_learned(config, scratch / "run");
}

}  // namespace
}  // namespace lano::overfit_test
