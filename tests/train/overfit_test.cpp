// Every operator of the registry can learn: eight samples of a benchmark it takes, by heart, to below 5 % in bounded time.
#include <fmt/format.h>

#include "core/model_catalogue.h"
#include "pde/elasticity_problem.h"
#include "train/evaluation.h"
#include "train/tiny_runs.h"
#include "train/trainer.h"

namespace lano {
namespace {

std::filesystem::path eight_of(const Problem& problem, const std::filesystem::path& path) {
  generate_dataset(path, problem.describe(), make_splits(8, 0, 0), problem.coordinates(),
                   [&](std::int64_t i, std::int64_t attempt, const SampleArrays& to) { return problem.make(i, attempt, to); });
  return path;
}

// Darcy flow at 22x22 points (the smoke set's grid) where the model takes grids, else the elasticity cloud.
std::filesystem::path samples_for(const ModelInfo& model, const test::Scratch& scratch) {
  if (!model.grid) return eight_of(ElasticityProblem(ElasticityConfig{}), scratch / "elasticity.h5");
  DarcyConfig config;
  config.resolution = 85;
  config.stride = 4;
  return eight_of(DarcyProblem(config), scratch / "darcy.h5");
}

class OverfitFull : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, OverfitFull, ::testing::ValuesIn(model_names()), [](const auto& each) {
  std::string name = each.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

TEST_P(OverfitFull, EightSamplesByHeart) {
  const ModelInfo* const info = find_model(GetParam());
  ASSERT_NE(info, nullptr);
  test::Scratch scratch;
  TrainConfig config;
  config.data = samples_for(*info, scratch).string();
  config.model = GetParam();
  config.lano.layers = 2;
  config.lano.heads = 4;
  config.lano.width = 32;
  config.lano.agents = 36;
  config.baseline.modes = 8;
  config.baseline.slices = 16;
  config.baseline.latent_grid = 32;
  config.batch = 4;
  config.epochs = 400;  // 800 steps
  config.clip = 1;
  config.schedule.learning_rate = 3e-3;
  config.selection = Selection::last;
  config.checkpoint_minutes = 0;
  const TrainResult result = train(config, scratch / "run");
  TrainedModel trained = load_trained_model(scratch / "run/model.safetensors");
  const DatasetReader reader(config.data);
  const Evaluation learned = evaluate(*trained.model, trained.file.normaliser, reader.description(), reader.read(reader.indices(Split::train)));
  const double error = summarise(learned.relative_l2).mean;
  fmt::print("{}: relative L2 {:.4f} on the samples learned, {} parameters, {:.0f} s\n", GetParam(), error, result.parameters, result.seconds);
  EXPECT_LT(error, 0.05);
  EXPECT_LT(result.seconds, 600);
}

}  // namespace
}  // namespace lano
