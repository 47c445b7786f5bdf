// Model files of every operator: complete ones load and predict as before, ones whose architecture outgrows their
// tensors are refused in little memory.
#include "core/threads.h"
#include "hostile.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/torch_predictor.h"
#include "model_spec/baseline_config.h"
#include "model_spec/model_catalogue.h"
#include "scratch.h"

namespace lano::hostile_model_test {
namespace {

SetDescription described(Geometry geometry) {
  SetDescription set;
  set.name = "tiny";
  set.geometry = geometry;
  set.shape = geometry == Geometry::points ? Shape{30} : Shape{8, 8};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  set.box = {0, 1, 0, 1};
  set.generator = "{}";
  return set;
}

ModelFile tiny_file(const std::string& name, Geometry geometry, std::shared_ptr<OperatorModel>* model = nullptr) {
  LanoConfig sizes;
  sizes.layers = 2;
  sizes.heads = 2;
  sizes.width = 8;
  sizes.agents = 4;
  BaselineConfig own;
  own.modes = 3;
  own.slices = 4;
  own.features = 3;
  own.basis = 3;
  own.tokens = 2;
  own.experts = 2;
  own.latent_grid = 16;
  own.window = 4;
  ModelFile file;
  file.set = described(geometry);
  if (name != "lano") {
    sizes.pool = Pool::sequence;
    sizes.order = Order::file;
  }
  const LanoShape shape = lano_shape(sizes, file.set);
  file.architecture = name == "lano" ? to_json(sizes, shape) : to_json(baseline_config(name, sizes, own), shape);
  file.normaliser = {ChannelMap::identity(2), ChannelMap::identity(1), ChannelMap::identity(1)};
  file.provenance = nlohmann::json::object();
  const auto made = make_model(file.architecture, 3);
  file.weights = copy_weights(*made);
  file.buffers = name_buffers(*made, copy_buffers(*made));
  if (model != nullptr) *model = made;
  return file;
}

// A forked child has none of its parent's threads.
void load_alone(const std::filesystem::path& path) {
  set_thread_count(1);
  load_torch_predictor(path);
}

class HostileModel : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Models, HostileModel, ::testing::ValuesIn(model_names()), [](const auto& each) {
  std::string name = each.param;
  name.erase(std::remove(name.begin(), name.end(), '-'), name.end());
  return name;
});

TEST_P(HostileModel, AWholeFileLoadsOnEveryGeometry) {
  const ModelInfo* const info = find_model(GetParam());
  ASSERT_NE(info, nullptr);
  test::Scratch scratch;
  for (const auto& [geometry, takes] :
       {std::pair(Geometry::mesh, info->mesh), std::pair(Geometry::points, info->points)}) {
    if (!takes) continue;
    std::shared_ptr<OperatorModel> model;
    const ModelFile file = tiny_file(GetParam(), geometry, &model);
    write_model_file(scratch / "whole.safetensors", file);
    const auto read = load_torch_predictor(scratch / "whole.safetensors");
    Batch batch;
    torch::manual_seed(11);
    batch.coordinates = torch::rand({2, file.set.points(), 2});
    batch.input = torch::randn({2, file.set.points(), 1});
    if (geometry == Geometry::mesh) batch.mesh = file.set.shape;
    model->eval();
    const torch::NoGradGuard no_grad;
    EXPECT_TRUE(torch::equal(read->model().forward(batch), model->forward(batch)));
  }
}

TEST_P(HostileModel, AnArchitectureLargerThanItsTensorsIsRefused) {
  const ModelInfo* const info = find_model(GetParam());
  ASSERT_NE(info, nullptr);
  test::Scratch scratch;
  const ModelFile good = tiny_file(GetParam(), info->points ? Geometry::points : Geometry::mesh);
  const auto path = scratch / "damaged.safetensors";
  const auto refused = [&](const std::string& what, const std::function<void(ModelFile&)>& damage) {
    ModelFile file = good;
    damage(file);
    write_model_file(path, file);
    test::expect_refused(what, [&] { load_alone(path); });
  };
  // Within what a config allows, and beyond.
  for (const std::int64_t size :
       {std::int64_t{4096}, std::int64_t{65536}, std::int64_t{1} << 31, std::int64_t{1} << 62}) {
    for (const char* const key :
         {"layers", "width", "ffn_ratio", "modes", "slices", "experts", "basis", "tokens", "wavelets", "features"}) {
      if (reads_key(*info, std::string("model.") + key))
        refused(key + std::string(" ") + std::to_string(size), [&](ModelFile& file) { file.architecture[key] = size; });
    }
    for (const char* const key : {"dims", "input_channels", "output_channels"}) {
      refused(key + std::string(" ") + std::to_string(size), [&](ModelFile& file) { file.architecture[key] = size; });
    }
  }
  // Modes that the latent grid allows, and a width that one of its tensors has.
  if (reads_key(*info, "model.latent_grid")) {
    refused("modes and their grid", [](ModelFile& file) {
      file.architecture["modes"] = 32768;
      file.architecture["latent_grid"] = 65536;
    });
  }
  refused("a wide encoder alone", [&](ModelFile& file) {
    const std::int64_t rows = 2 * 65536, columns = 3;
    file.weights["encoder1.weight"] = {{rows, columns}, std::vector<float>(static_cast<std::size_t>(rows * columns))};
    file.architecture["width"] = 65536;
  });
  refused("a box of three numbers", [&](ModelFile& file) {
    file.architecture["reference_box"] = {0, 1, 2};
    if (GetParam() == "lano") file.architecture["position"] = "reference";
  });
  if (GetParam() == "deeponet") {
    for (const std::int64_t points :
         {std::int64_t{1} << 30, std::int64_t{1} << 40, std::int64_t{1} << 62, std::int64_t{-1}}) {
      refused("points " + std::to_string(points), [&](ModelFile& file) { file.architecture["points"] = points; });
    }
  }
}

}  // namespace
}  // namespace lano::hostile_model_test
