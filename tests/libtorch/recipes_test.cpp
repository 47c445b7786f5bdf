// Every recipe makes the model it names.
#include "train/recipes.h"

#include <fmt/format.h>

#include <map>

#include "libtorch/operator_model.h"
#include "model_spec/model_catalogue.h"
#include "scratch.h"

namespace lano::recipes_test {
namespace {

SetDescription described(const std::string& benchmark, const Shape& shape) {
  SetDescription set;
  set.geometry = benchmark == "elasticity" ? Geometry::points : benchmark == "darcy" ? Geometry::grid : Geometry::mesh;
  set.shape = shape;
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  if (benchmark == "darcy" || benchmark == "plasticity") set.input = {{"a", "1"}};
  set.output.assign(benchmark == "plasticity" ? 4 : 1, {"u", "1"});
  set.box = {0, 1, 0, 1};
  if (benchmark == "plasticity") set.time = {0, 1, 2};
  return set;
}

// On the datasets `lano experiment table` makes for these presets: every pair makes a model, but for those the
// catalogue rules out.
TEST(Recipes, EveryPairMakesAModelOrIsRefusedAsTheCatalogueSays) {
  const std::map<std::string, std::map<std::string, Shape>> sets{{"smoke",
                                                                  {{"elasticity", {972}},
                                                                   {"plasticity", {41, 13}},
                                                                   {"airfoil", {111, 26}},
                                                                   {"pipe", {33, 33}},
                                                                   {"darcy", {22, 22}}}},
                                                                 {"laptop",
                                                                  {{"elasticity", {972}},
                                                                   {"plasticity", {101, 31}},
                                                                   {"airfoil", {111, 26}},
                                                                   {"pipe", {65, 65}},
                                                                   {"darcy", {29, 29}}}}};
  for (const auto& [preset, shapes] : sets) {
    for (const auto& [benchmark, extent] : shapes) {
      for (const ModelInfo& model : model_catalogue()) {
        const std::string what = fmt::format("{} {} {}", model.name, benchmark, preset), name(model.name);
        const TrainConfig config = read_recipe_files(recipe_files(LANO_CONFIGS, benchmark, name, preset), {});
        const SetDescription frames = described(benchmark, extent),
                             set = config.times == Times::channels ? times_as_channels(frames) : frames;
        LanoConfig sizes = config.lano;
        if (name != "lano") {
          sizes.pool = Pool::sequence;
          sizes.order = Order::file;
        }
        LanoShape shape = lano_shape(sizes, set, {}, {});
        const auto make = [&] {
          return make_model(
              name == "lano" ? to_json(sizes, shape) : to_json(baseline_config(name, sizes, config.baseline), shape),
              1);
        };
        if (set.geometry == Geometry::points && !model.points) {
          EXPECT_THROW(make(), UsageError) << what;
          continue;
        }
        try {
          EXPECT_LT(parameter_count(*make()), 50'000'000) << what;  // for a laptop
        } catch (const Error& error) {
          ADD_FAILURE() << what << ": " << error.what();
        }
      }
    }
  }
}

}  // namespace
}  // namespace lano::recipes_test
