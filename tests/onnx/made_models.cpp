// Small LANOs of every switch, geometry and task with random weights, sets to ask them on, and a list of both
// (cases.json) for compare.mjs. Torch-free. Usage: onnx_models FOLDER
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "core/atomic_file.h"
#include "core/random.h"
#include "data/dataset.h"
#include "data/npy.h"
#include "model_spec/lano_sizes.h"
#include "runtime/model_file.h"

namespace lano {
namespace {

using nlohmann::json;

constexpr std::int64_t kSamples = 3;
std::filesystem::path folder;
std::uint64_t draws = 0;

std::vector<float> normal(std::int64_t size, double scale, double mean = 0) {
  RandomStream stream(11, Purpose::test, ++draws);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = static_cast<float>(mean + scale * stream.normal());
  return values;
}

std::vector<float> uniform(std::int64_t size, double low, double high) {
  RandomStream stream(12, Purpose::test, ++draws);
  std::vector<float> values(static_cast<std::size_t>(size));
  for (float& value : values) value = static_cast<float>(low + (high - low) * stream.uniform());
  return values;
}

SetDescription described(Geometry geometry, const Shape& shape, std::size_t dims, std::size_t da, std::size_t du) {
  SetDescription set;
  set.name = "made";
  set.geometry = geometry;
  set.shape = shape;
  for (std::size_t a = 0; a < dims; ++a) set.coordinates.push_back({std::string(1, static_cast<char>('x' + a)), "m"});
  for (std::size_t a = 0; a < da; ++a) set.input.push_back({"a" + std::to_string(a), "1"});
  for (std::size_t a = 0; a < du; ++a) set.output.push_back({"u" + std::to_string(a), "Pa"});
  for (std::size_t a = 0; a < dims; ++a) set.box.insert(set.box.end(), {0.0, 1.0 + 0.5 * static_cast<double>(a)});
  set.generator = "{}";
  return set;
}

// Weights large enough that softmax, bias and GELU are far from linear.
std::map<std::string, Tensor> random_weights(const LanoConfig& config, const LanoShape& shape) {
  std::map<std::string, Tensor> tensors;
  const std::int64_t c = config.width, in = position_width(config.position, shape.dims) + shape.input_channels;
  const auto add = [&](const std::string& name, const Shape& extents, double scale = 0.4, double mean = 0) {
    tensors[name] = {extents, normal(element_count(extents), scale, mean)};
  };
  const auto linear = [&](const std::string& name, std::int64_t out, std::int64_t from, bool bias = true) {
    add(name + ".weight", {out, from});
    if (bias) add(name + ".bias", {out});
  };
  const auto norm = [&](const std::string& name) {
    add(name + ".weight", {c}, 0.2, 1);
    add(name + ".bias", {c});
  };
  linear("encoder1", 2 * c, in);
  linear("encoder2", c, 2 * c);
  add("placeholder", {c});
  for (std::int64_t l = 0; l < config.layers; ++l) {
    const std::string block = "blocks." + std::to_string(l) + ".", attention = block + "attention.";
    norm(block + "norm1");
    linear(attention + "qkv", 3 * c, c, false);
    Shape stencil{c, 1};
    stencil.insert(stencil.end(), static_cast<std::size_t>(stencil_axes(config, shape)), 3);
    if (config.dwc) add(attention + "dwc", stencil);
    stencil[0] = config.ffn_ratio * c;
    if (config.ffn_stencil) add(block + "ffn_dwc", stencil);
    for (int b = 1; b <= 4 && config.bias != Bias::none; ++b)
      add(attention + "bias" + std::to_string(b), {config.agents}, 1.0);
    if (config.exchange) add(attention + "exchange", {config.heads * config.agents, config.agents});
    if (config.agent_tokens == Agents::latent) add(attention + "latent", {config.agents, c}, 1.0);
    linear(attention + "out", c, c);
    norm(block + "norm2");
    linear(block + "ffn1", config.ffn_ratio * c, c);
    linear(block + "ffn2", c, config.ffn_ratio * c);
  }
  norm("norm");
  if (config.decoder == Decoder::mlp) linear("decoder_hidden", c, c);
  linear("decoder", shape.output_channels, c);
  if (config.task == Task::time_conditional) {
    linear("time1", c, c);
    linear("time2", c, c);
  }
  return tensors;
}

ChannelMap some_map(std::int64_t channels) {
  std::vector<double> shift, scale;
  for (std::int64_t c = 0; c < channels; ++c) {
    shift.push_back(0.3 - 0.2 * static_cast<double>(c));
    scale.push_back(1.5 + 0.5 * static_cast<double>(c));
  }
  return {shift, scale};
}

// A uniform grid, point i of axis a at origin[a] + i step[a].
std::vector<float> grid_points(const Shape& shape, const std::vector<double>& origin, const std::vector<double>& step) {
  std::vector<float> values;
  for (std::int64_t p = 0; p < element_count(shape); ++p) {
    std::int64_t rest = p;
    std::vector<float> point(shape.size());
    for (std::size_t a = shape.size(); a-- > 0; rest /= shape[a]) {
      point[a] = static_cast<float>(origin[a] + step[a] * static_cast<double>(rest % shape[a]));
    }
    values.insert(values.end(), point.begin(), point.end());
  }
  return values;
}

struct Asked {
  std::string name;
  SetDescription set;
  std::vector<float> shared;                           // coordinates of a grid; empty: random ones for each sample
  std::vector<std::string> exporting{}, predicting{};  // options of lano export and lano predict
  bool coarse = false;                                 // clouds: many points in one place
};

// Writes the dataset as lano predict reads it, and its arrays for onnxruntime.
json write_set(const Asked& asked) {
  const SetDescription& set = asked.set;
  const std::int64_t n = set.points(), frames = set.time.empty() ? 1 : static_cast<std::int64_t>(set.time.size());
  const auto at = [&](const char* ending) { return folder / (asked.name + ending); };
  std::vector<float> all_coordinates, all_input;
  DatasetWriter writer(at(".h5"), set, std::vector<Split>(kSamples, Split::test), asked.shared);
  for (std::int64_t s = 0; s < kSamples; ++s) {
    std::vector<float> coordinates = asked.shared, input = normal(n * set.input_channels(), 1);
    if (coordinates.empty()) {
      coordinates = uniform(n * set.dims(), -0.1, 1.2);  // some outside the box
      for (float& x : coordinates) x = asked.coarse ? std::abs(std::round(x * 3) / 3) : x;
    }
    const std::span<const float> own =
        asked.shared.empty() ? std::span<const float>(coordinates) : std::span<const float>();
    writer.write(s, own, input, normal(n * frames * set.output_channels(), 1));
    all_coordinates.insert(all_coordinates.end(), coordinates.begin(), coordinates.end());
    all_input.insert(all_input.end(), input.begin(), input.end());
  }
  writer.commit();
  write_npy(at(".coordinates.npy"), {kSamples, n, set.dims()}, all_coordinates);
  write_npy(at(".input.npy"), {kSamples, n, set.input_channels()}, all_input);
  return {{"name", asked.name},        {"points", n},
          {"times", set.time},         {"channels", set.output_channels()},
          {"export", asked.exporting}, {"predict", asked.predicting}};
}

json write_case(const std::string& name, const LanoConfig& config, const SetDescription& set,
                const std::vector<float>& grid, std::vector<Asked> asked = {}) {
  std::vector<double> spacing, origin;
  if (!grid.empty() && uniform_grid_spacing(set.shape, grid, &spacing))
    origin.assign(grid.begin(), grid.begin() + set.dims());
  LanoShape shape = lano_shape(config, set, spacing, origin);
  ModelFile file;
  if (name.starts_with("displaced")) {  // models that see the displacement from the mean mesh
    shape.input_channels += set.dims();
    file.normaliser.mean_mesh = MeanField(set.shape, grid_points(set.shape, {0, 0}, {0.15, 0.3}), {0.5, 0.25});
  }
  file.architecture = to_json(config, shape);
  file.set = set;
  file.coordinates = grid;
  file.normaliser.coordinates = some_map(set.dims());
  file.normaliser.input = some_map(set.input_channels());
  file.normaliser.output = some_map(set.output_channels());
  if (name.starts_with("displaced"))
    file.normaliser.mean_output = MeanField(set.shape, grid_points(set.shape, {1, 2}, {0.5, 0.25}), {1.5, 2});
  if (name.starts_with("changing"))  // models that give the change of their state
    file.normaliser.increment.assign(static_cast<std::size_t>(set.output_channels()), 0.3);
  file.provenance = {{"made", true}};
  file.weights = random_weights(config, shape);
  write_model_file(folder / (name + ".safetensors"), file);
  asked.insert(asked.begin(), {name, set, grid});
  json entry{{"name", name},
             {"task", file.architecture.at("task")},
             {"stateFrames", config.task == Task::autoregressive ? std::max<std::int64_t>(1, config.state_frames) : 0},
             {"cloud", set.geometry == Geometry::points},
             {"inputs", set.input_channels()},
             {"sets", json::array()},
             {"tensors", json::array()}};
  for (const Asked& each : asked) entry["sets"].push_back(write_set(each));
  for (const auto& [tensor, values] : file.weights) entry["tensors"].push_back(tensor);
  return entry;
}

json write_cases() {
  json cases = json::array();
  const Shape mesh{12, 10};
  const auto grid = described(Geometry::grid, mesh, 2, 1, 2);
  const std::vector<float> points = grid_points(mesh, {0.25, 0.25}, {0.1, 0.1});
  const auto config_of = [](const std::function<void(LanoConfig&)>& change) {
    LanoConfig c;
    c.layers = 2;
    c.heads = 2;
    c.width = 8;
    c.agents = 6;
    change(c);
    return c;
  };
  using Change = std::function<void(LanoConfig&)>;
  const auto add = [&](const std::string& name, const Change& change, const SetDescription& set,
                       const std::vector<float>& at, const std::vector<Asked>& others = {}) {
    cases.push_back(write_case(name, config_of(change), set, at, others));
  };
  const auto on_grid = [&](const std::string& name, const std::function<void(LanoConfig&)>& change) {
    add(name, change, grid, points);
  };
  // Finer (taps two points away), and of no whole ratio; from the first trained point to the last, and shifted.
  auto finer = grid, between = grid, shifted = grid;
  finer.shape = {23, 19};
  between.shape = {17, 13};
  shifted.shape = {16, 15};
  const auto shifted_points = grid_points(shifted.shape, {0.2, 0.22}, {0.085, 0.08});
  write_npy(folder / "shifted.npy", {16, 15, 2}, shifted_points);
  const auto between_points = grid_points(between.shape, {0.25, 0.25}, {1.1 / 16, 0.9 / 12});
  const std::vector<Asked> other_meshes{
      {"grid_finer", finer, grid_points(finer.shape, {0.25, 0.25}, {0.05, 0.05}), {"--mesh", "23x19"}},
      {"grid_between", between, between_points, {"--mesh", "17x13"}},
      {"grid_shifted", shifted, shifted_points, {"--coords", "shifted.npy"}},
      {"grid_agents", grid, points, {"--agents", "12"}, {"--agents", "12"}}};
  add(
      "grid", [](auto&) {}, grid, points, other_meshes);
  // Middles of cells stay middles of cells.
  auto cells = described(Geometry::grid, {9, 8}, 2, 1, 1), small_cells = cells;
  cells.box = {0, 0.9, 0, 0.8};
  small_cells.shape = {18, 24};
  const auto small_points = grid_points(small_cells.shape, {0.025, 0.1 / 6}, {0.05, 0.1 / 3});
  const auto cell_points = grid_points(cells.shape, {0.05, 0.05}, {0.1, 0.1});
  add("cells", [](auto&) {}, cells, cell_points, {{"cells_smaller", small_cells, small_points, {"--mesh", "18x24"}}});
  on_grid("sum", [](auto& c) { c.bias = Bias::sum; });
  on_grid("no_bias", [](auto& c) { c.bias = Bias::none; });
  on_grid("no_dwc", [](auto& c) { c.dwc = false; });
  on_grid("latent", [](auto& c) { c.agent_tokens = Agents::latent; });
  on_grid("sequence", [](auto& c) {
    c.pool = Pool::sequence;
    c.agents = 7;
  });
  on_grid("mlp", [](auto& c) { c.decoder = Decoder::mlp; });
  on_grid("reference", [](auto& c) { c.position = Position::reference; });
  on_grid("one_agent", [](auto& c) { c.agents = 1; });
  auto index = grid;
  index.shape = {9, 14};
  const auto index_points = grid_points(index.shape, {0.25, 0.25}, {0.07, 0.07});
  add("index", [](auto& c) { c.dwc_spacing = DwcSpacing::index; }, grid, points,
      {{"index_other", index, index_points, {"--mesh", "9x14"}}});
  add("edge",
      [](auto& c) {
        c.padding = Padding::edge;
        c.ffn_stencil = true;
      },
      grid, points,
      {{"edge_between", between, between_points, {"--mesh", "17x13"}},
       {"edge_shifted", shifted, shifted_points, {"--coords", "shifted.npy"}}});

  const auto curved = described(Geometry::mesh, {7, 4}, 2, 0, 1);
  auto curved_other = curved;
  curved_other.shape = {10, 9};
  add("mesh", [](auto&) {}, curved, {}, {{"mesh_other", curved_other, {}, {"--mesh", "10x9"}}});
  const auto line = described(Geometry::grid, {21}, 1, 1, 1);
  auto line_other = line;
  line_other.shape = {34};
  const std::vector<float> line_points = grid_points({21}, {0}, {0.05}),
                           finer_line = grid_points({34}, {0}, {1.0 / 33});
  add("line", [](auto& c) { c.agents = 4; }, line, line_points,
      {{"line_other", line_other, finer_line, {"--mesh", "34"}}});
  add(
      "line_sequence",
      [](auto& c) {
        c.agents = 4;
        c.pool = Pool::sequence;
      },
      line, line_points);
  const auto space = described(Geometry::mesh, {4, 5, 6}, 3, 1, 1);
  auto space_other = space;
  space_other.shape = {6, 7, 11};
  add("space", [](auto& c) { c.agents = 12; }, space, {}, {{"space_other", space_other, {}, {"--mesh", "6x7x11"}}});

  // Periodic: two axes, one, and of a mesh without spacing; finer, of no whole ratio, and begun elsewhere.
  auto torus = described(Geometry::grid, {12, 10}, 2, 1, 2), torus_finer = torus, torus_between = torus;
  torus.periodic = torus_finer.periodic = torus_between.periodic = {true, true};
  torus_finer.shape = {24, 20};
  torus_between.shape = {17, 13};
  const auto around = [](const Shape& shape, const std::vector<double>& origin) {
    return grid_points(shape, origin, {1 / static_cast<double>(shape[0]), 1 / static_cast<double>(shape[1])});
  };
  const auto torus_elsewhere = around({17, 13}, {0.3, -0.22});
  write_npy(folder / "elsewhere.npy", {17, 13, 2}, torus_elsewhere);
  add("torus", [](auto& c) { c.ffn_stencil = true; }, torus, around({12, 10}, {0, 0}),
      {{"torus_finer", torus_finer, around({24, 20}, {0, 0}), {"--mesh", "24x20"}},
       {"torus_between", torus_between, around({17, 13}, {0, 0}), {"--mesh", "17x13"}},
       {"torus_elsewhere", torus_between, torus_elsewhere, {"--coords", "elsewhere.npy"}},
       {"torus_agents", torus, around({12, 10}, {0, 0}), {"--agents", "12"}, {"--agents", "12"}}});
  auto cylinder = described(Geometry::mesh, {7, 4}, 2, 1, 1), cylinder_other = cylinder;
  cylinder.periodic = cylinder_other.periodic = {false, true};
  cylinder_other.shape = {10, 9};
  add("cylinder", [](auto& c) { c.bias = Bias::sum; }, cylinder, {},
      {{"cylinder_other", cylinder_other, {}, {"--mesh", "10x9"}}});

  // Clouds: other numbers of points with the same graph; as many in one place; more agents than points.
  const auto clouds = [&](const std::string& name, const std::function<void(LanoConfig&)>& change,
                          const SetDescription& set) {
    std::vector<Asked> asked;
    for (const std::int64_t n : {80, 61, 23, 1}) {
      Asked other{name + "_" + std::to_string(n), set, {}};
      other.set.shape = {n};
      asked.push_back(other);
    }
    // Points in one place are ordered by their input; without input, their order is unspecified.
    if (set.input_channels() > 0) asked.push_back({name + "_coarse", set, {}, {}, {}, true});
    if (name == "cloud" || name == "cloud_exchange")
      asked.push_back({name + "_agents", set, {}, {"--agents", "5"}, {"--agents", "5"}});
    add(name, change, set, {}, asked);
  };
  clouds(
      "cloud", [](auto& c) { c.agents = 9; }, described(Geometry::points, {40}, 2, 2, 1));
  const auto in_space = described(Geometry::points, {40}, 3, 1, 2),
             without_input = described(Geometry::points, {40}, 2, 0, 1);
  clouds(
      "cloud_in_space",
      [](auto& c) {
        c.agents = 9;
        c.bias = Bias::sum;
        c.position = Position::reference;
      },
      in_space);
  clouds(
      "cloud_on_a_line", [](auto&) {}, described(Geometry::points, {40}, 1, 1, 1));
  clouds(
      "cloud_index",
      [](auto& c) {
        c.dwc_spacing = DwcSpacing::index;
        c.agent_tokens = Agents::latent;
      },
      without_input);
  clouds(
      "cloud_in_file_order", [](auto& c) { c.order = Order::file; }, described(Geometry::points, {40}, 2, 1, 1));
  clouds(
      "cloud_neighbours", [](auto& c) { c.stencil = Stencil::neighbours; }, described(Geometry::points, {40}, 2, 1, 1));
  clouds(
      "cloud_neighbours_in_space",
      [](auto& c) {
        c.stencil = Stencil::neighbours;
        c.order = Order::file;
        c.ffn_stencil = true;
      },
      in_space);
  clouds(
      "few_points",
      [](auto& c) {
        c.agents = 50;
        c.bias = Bias::none;
        c.dwc = false;
      },
      described(Geometry::points, {4}, 2, 1, 1));

  auto timed = grid;
  timed.time = {0.5, 0.75, 1.0};
  add(
      "autoregressive", [](auto& c) { c.task = Task::autoregressive; }, timed, points);
  add(
      "changing", [](auto& c) { c.task = Task::autoregressive; }, timed, points);
  const auto two_frames = [](auto& c) {
    c.task = Task::autoregressive;
    c.state_frames = 2;
  };
  add("two_frames", two_frames, timed, points);
  add("changing_two_frames", two_frames, timed, points);
  on_grid("ffn_stencil", [](auto& c) { c.ffn_stencil = true; });
  add(
      "time_conditional",
      [](auto& c) {
        c.task = Task::time_conditional;
        c.decoder = Decoder::mlp;
      },
      timed, points);
  add(
      "odd_width",
      [](auto& c) {
        c.task = Task::time_conditional;
        c.width = 9;
        c.heads = 3;
      },
      timed, points);
  auto timed_cloud = described(Geometry::points, {40}, 2, 1, 2);
  timed_cloud.time = {0.0, 0.1, 0.2, 0.3};
  add("changing_cloud", [](auto& c) { c.task = Task::autoregressive; }, timed_cloud, {});
  add("changing_two_frames_cloud", two_frames, timed_cloud, {});
  add("autoregressive_cloud", [](auto& c) { c.task = Task::autoregressive; }, timed_cloud, {});
  add("time_conditional_cloud", [](auto& c) { c.task = Task::time_conditional; }, timed_cloud, {});
  const auto moved = described(Geometry::mesh, {7, 4}, 2, 1, 2);
  auto moved_other = moved;
  moved_other.shape = {10, 9};
  add("displaced", [](auto&) {}, moved, {}, {{"displaced_other", moved_other, {}, {"--mesh", "10x9"}}});
  // Agents that have a place, on grids, meshes and a torus, along an order, and others than those trained. New models
  // come last: each draws its numbers behind those before it.
  const auto exchanging = [](auto& c) { c.exchange = true; };
  add("exchange_of_a_mesh", exchanging, moved, {}, {{"exchange_of_a_mesh_other", moved_other, {}, {"--mesh", "10x9"}}});
  add("exchange_on_a_torus", exchanging, torus, around({12, 10}, {0, 0}),
      {{"exchange_between", torus_between, around({17, 13}, {0, 0}), {"--mesh", "17x13"}},
       {"exchange_of_others", torus, around({12, 10}, {0, 0}), {"--agents", "12"}, {"--agents", "12"}}});
  clouds("cloud_exchange", exchanging, described(Geometry::points, {40}, 2, 1, 1));
  return cases;
}

}  // namespace
}  // namespace lano

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    lano::folder = argv[1];
    lano::write_file_atomically(lano::folder / "cases.json", lano::write_cases().dump());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
