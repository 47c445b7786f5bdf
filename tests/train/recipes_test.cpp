// Every recipe in configs is read, fits the schema, and says nothing to a model that it does not hear.
#include "train/recipes.h"

#include <fmt/format.h>

#include <set>

#include "core/atomic_file.h"
#include "model_spec/model_catalogue.h"
#include "scratch.h"

namespace lano::recipes_test {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kBenchmarks{"elasticity", "plasticity", "airfoil", "pipe", "darcy"};
const std::vector<std::string> kPresets{"paper", "paper-ours", "laptop", "smoke"};

TEST(Recipes, EveryModelHasOneForEveryBenchmarkAndPreset) {
  for (const ModelInfo& model : model_catalogue()) {
    for (const std::string& benchmark : kBenchmarks) {
      for (const std::string& preset : kPresets) {
        const std::string what = fmt::format("{} {} {}", model.name, benchmark, preset);
        TrainConfig config =
            read_recipe_files(recipe_files(LANO_CONFIGS, benchmark, std::string(model.name), preset), {});
        EXPECT_EQ(config.model, model.name) << what;
        const bool steps = preset == "paper" && model.name == "lano";  // as its text says; the others know the time
        const bool together = benchmark == "plasticity" && preset == "laptop" && model.name == "lano";
        EXPECT_EQ(config.times, together ? Times::channels : Times::frames) << what;
        EXPECT_EQ(config.lano.task, benchmark != "plasticity" || together ? Task::steady
                                    : steps                               ? Task::autoregressive
                                                                          : Task::time_conditional)
            << what;
        config.data = "set.h5";
        EXPECT_NO_THROW(check_train_config(config)) << what;
        EXPECT_TRUE(!preset.starts_with("paper") || config.epochs == 500) << what;
        // Millimetres would drown everything else the network sees.
        EXPECT_TRUE(benchmark != "plasticity" || config.coordinates == Scaling::channel) << what;
      }
    }
  }
}

// Appendix B of the paper, and its text on the network.
TEST(Recipes, ThePaperIsFollowedToTheLetterOrReadAsWeDo) {
  for (const std::string& benchmark : kBenchmarks) {
    const auto read = [&](const std::string& model, const char* preset) {
      return read_recipe_files(recipe_files(LANO_CONFIGS, benchmark, model, preset), {});
    };
    const TrainConfig paper = read("lano", "paper"), ours = read("lano", "paper-ours");
    const bool elasticity = benchmark == "elasticity", darcy = benchmark == "darcy";
    for (const TrainConfig& c : {paper, ours}) {
      EXPECT_EQ(c.lano.layers, 8) << benchmark;
      EXPECT_EQ(c.lano.heads, 8) << benchmark;
      EXPECT_EQ(c.lano.width, 128) << benchmark;
      EXPECT_EQ(c.lano.agents, elasticity ? 64 : 128) << benchmark;
      EXPECT_EQ(c.lano.ffn_ratio, 2) << benchmark;
      EXPECT_FALSE(c.lano.ffn_stencil) << benchmark;
      EXPECT_EQ(c.lano.decoder, Decoder::linear) << benchmark;
      EXPECT_EQ(c.batch, elasticity ? 1 : benchmark == "plasticity" ? 8 : 4) << benchmark;
      EXPECT_EQ(c.schedule.kind, elasticity ? ScheduleKind::cosine : ScheduleKind::one_cycle) << benchmark;
      EXPECT_EQ(c.schedule.learning_rate, 1e-3) << benchmark;
      EXPECT_EQ(c.optimiser.kind, OptimiserKind::adamw) << benchmark;
      EXPECT_EQ(c.loss.gradient_weight, darcy ? 0.1 : 0) << benchmark;
    }
    EXPECT_EQ(paper.lano.pool, Pool::sequence) << benchmark;
    EXPECT_EQ(paper.lano.bias, Bias::sum) << benchmark;
    EXPECT_EQ(paper.lano.dwc_spacing, DwcSpacing::index) << benchmark;
    EXPECT_EQ(ours.lano.pool, Pool::grid) << benchmark;
    EXPECT_EQ(ours.lano.bias, Bias::outer) << benchmark;
    EXPECT_EQ(ours.lano.dwc_spacing, DwcSpacing::physical) << benchmark;
    EXPECT_EQ(ours.loss.gradient_kind, GradientKind::joint) << benchmark;
    EXPECT_TRUE(!elasticity || paper.lano.order == Order::file);
    // Every operator of the table has the same samples and the same term.
    for (const char* model : {"lano", "transolver"}) {
      const TrainConfig all = read(model, "paper"), some = read(model, "paper-ours");
      EXPECT_EQ(all.train_on, TrainOn::train_and_validation) << benchmark << model;
      EXPECT_EQ(all.selection, Selection::last) << benchmark << model;
      EXPECT_EQ(all.loss.gradient_kind, darcy ? GradientKind::axes : GradientKind::joint) << benchmark << model;
      EXPECT_EQ(some.train_on, TrainOn::train) << benchmark << model;
      EXPECT_EQ(some.selection, Selection::best) << benchmark << model;
      EXPECT_EQ(all.lano.width, some.lano.width) << benchmark << model;
    }
  }
}

TEST(Recipes, TheDocsNameEveryKeyOfTheBaselines) {
  const std::string docs = read_file(fs::path(LANO_CONFIGS) / "../docs/models.md", "reading");
  BaselineConfig config;
  Schema schema;
  bind_baseline_config(schema, config);
  for (const Schema::Key& key : schema.keys()) {
    const std::size_t row = docs.find(fmt::format("`{}`", key.name), docs.find("| key | default | read by |"));
    ASSERT_NE(row, std::string::npos) << key.name;
    const std::string line = docs.substr(row, docs.find('\n', row) - row);
    if (line.find("spectral operators") != std::string::npos) continue;
    for (const ModelInfo& model : model_catalogue()) {
      EXPECT_TRUE(!reads_key(model, key.name) || line.find(model.name) != std::string::npos)
          << key.name << " is read by " << model.name;
    }
  }
}

TEST(Recipes, EveryFileSaysOnlyWhatItsModelReads) {
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(LANO_CONFIGS) / "models")) {
    if (entry.path().extension() != ".toml") continue;
    const std::string name = entry.path().parent_path().filename().string();
    const ModelInfo* const model = find_model(name);
    ASSERT_NE(model, nullptr) << entry.path();
    seen.insert(name);
    for (const auto& [key, value] : flat_toml(read_file(entry.path(), "r"), "reading")) {
      EXPECT_TRUE(reads_key(*model, key)) << entry.path() << ": " << key;
      EXPECT_TRUE(key != "model.name" || value == name) << entry.path();
    }
    // A name that no call asks for would never be read.
    const std::string stem = entry.path().stem().string();
    bool known = false;
    for (const std::string& preset : kPresets) {
      known = known || stem == preset;
      for (const std::string& benchmark : kBenchmarks) known = known || stem == preset + "-" + benchmark;
    }
    EXPECT_TRUE(known) << entry.path();
  }
  EXPECT_EQ(seen.size(), model_catalogue().size() - 1);
}

// From any folder: a file that is there, else the recipe of that name, of a folder configs here before the
// installation's (here: the source tree's, next to which the test was built).
TEST(Recipes, AreFoundByNameFromAnyFolder) {
  const test::Scratch scratch;
  const fs::path here = fs::current_path();
  fs::create_directories(scratch / "darcy/laptop");  // a folder is no recipe
  fs::current_path(scratch / "");
  const fs::path installed = find_recipe("darcy/laptop");
  EXPECT_TRUE(fs::equivalent(installed, fs::path(LANO_CONFIGS) / "darcy/laptop.toml")) << installed;
  EXPECT_EQ(find_recipe("configs/darcy/laptop.toml"), installed);
  EXPECT_EQ(find_recipe("./darcy/laptop.toml"), installed);
  EXPECT_EQ(read_recipe_files({"darcy/laptop"}, {}).lano.layers, read_recipe_files({installed}, {}).lano.layers);
  for (const char* none : {"darcy/labtop", "../configs/darcy/laptop.toml", "/darcy/laptop.toml", ""})
    EXPECT_EQ(find_recipe(none), none);
  fs::create_directories("configs/darcy");
  write_file_atomically("configs/darcy/laptop.toml", "[model]\nlayers = 7\n");
  EXPECT_EQ(read_recipe_files({"darcy/laptop"}, {}).lano.layers, 7);
  write_file_atomically("darcy/laptop.toml", "[model]\nlayers = 9\n");
  EXPECT_EQ(read_recipe_files({"darcy/laptop.toml"}, {}).lano.layers, 9);
  fs::current_path(here);
}

TEST(Recipes, LaterFilesAndOverridesWin) {
  const TrainConfig lsm = read_recipe_files(recipe_files(LANO_CONFIGS, "darcy", "lsm", "paper"), {"train.epochs=7"});
  EXPECT_EQ(lsm.lano.width, 64);  // of paper-darcy.toml, over 32 of its paper.toml, over 128 of the benchmark
  EXPECT_EQ(lsm.batch, 20);
  EXPECT_EQ(lsm.epochs, 7);
  EXPECT_EQ(lsm.lano.layers, 8);
  const TrainConfig pipe = read_recipe_files(recipe_files(LANO_CONFIGS, "pipe", "lsm", "paper"), {});
  EXPECT_EQ(pipe.lano.width, 32);
  EXPECT_EQ(pipe.coordinates, Scaling::channel);
  EXPECT_ERROR_WITH(recipe_files(LANO_CONFIGS, "darcy", "fnoo", "paper"), "for fnoo");
  EXPECT_ERROR_WITH(recipe_files(LANO_CONFIGS, "darcy", "fno", "desktop"), "desktop.toml' for darcy");
}

}  // namespace
}  // namespace lano::recipes_test
