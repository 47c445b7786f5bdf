// Small LANOs of every switch and geometry, shared by the tests of the model and of its engines.
#pragma once

#include <torch/torch.h>

#include <ostream>
#include <string>
#include <vector>

#include "libtorch/operator_model.h"
#include "model_spec/lano_config.h"

namespace lano::test {

inline SetDescription described(Geometry geometry, const Shape& shape, std::size_t dims, std::size_t da,
                                std::size_t du) {
  SetDescription set;
  set.geometry = geometry;
  set.shape = shape;
  set.coordinates.resize(dims, {"x", "1"});
  set.input.resize(da, {"a", "1"});
  set.output.resize(du, {"u", "1"});
  for (std::size_t a = 0; a < dims; ++a) set.box.insert(set.box.end(), {0.0, 1.0});
  return set;
}

inline std::shared_ptr<OperatorModel> model_for(const LanoConfig& config, const SetDescription& set,
                                                std::uint64_t seed = 1) {
  return make_model(to_json(config, lano_shape(config, set)), seed);
}

struct Case {
  std::string name;
  LanoConfig config;
  SetDescription set;
};

inline void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

inline LanoConfig tiny() {
  LanoConfig c;
  c.layers = 2;
  c.heads = 2;
  c.width = 8;
  c.agents = 4;
  return c;
}

inline std::vector<Case> cases() {
  const auto grid = described(Geometry::grid, {5, 6}, 2, 1, 2);
  std::vector<Case> all{{"grid", tiny(), grid}};
  const auto vary = [&](const std::string& name, auto change, const SetDescription& set) {
    LanoConfig c = tiny();
    change(c);
    all.push_back({name, c, set});
  };
  vary(
      "sum", [](auto& c) { c.bias = Bias::sum; }, grid);
  vary(
      "no_bias", [](auto& c) { c.bias = Bias::none; }, grid);
  vary(
      "no_dwc", [](auto& c) { c.dwc = false; }, grid);
  vary(
      "ffn_stencil", [](auto& c) { c.ffn_stencil = true; }, grid);
  vary(
      "ffn_stencil_alone",
      [](auto& c) {
        c.ffn_stencil = true;
        c.dwc = false;
        c.ffn_ratio = 3;
      },
      grid);
  const auto held = [](auto& c) {
    c.padding = Padding::edge;
    c.ffn_stencil = true;
  };
  vary("edge", held, grid);
  vary("edge_on_a_line", held, described(Geometry::grid, {11}, 1, 1, 1));
  vary("edge_in_space", held, described(Geometry::grid, {4, 3, 5}, 3, 1, 1));
  vary(
      "latent", [](auto& c) { c.agent_tokens = Agents::latent; }, grid);
  const auto exchanging = [](auto& c) {
    c.exchange = true;
    c.heads = 4;
  };
  vary("exchange", exchanging, grid);
  vary(
      "exchange_of_one_head",
      [](auto& c) {
        c.exchange = true;
        c.heads = 1;
        c.bias = Bias::none;
      },
      grid);
  vary("exchange_along_an_order", exchanging, described(Geometry::points, {12}, 2, 1, 1));
  vary(
      "sequence", [](auto& c) { c.pool = Pool::sequence; }, grid);
  vary(
      "mlp", [](auto& c) { c.decoder = Decoder::mlp; }, grid);
  vary(
      "reference", [](auto& c) { c.position = Position::reference; }, grid);
  vary(
      "one_agent", [](auto& c) { c.agents = 1; }, grid);
  vary(
      "mesh", [](auto& c) { c.agents = 6; }, described(Geometry::mesh, {7, 4}, 2, 0, 1));
  vary(
      "line", [](auto& c) { c.agents = 3; }, described(Geometry::grid, {11}, 1, 1, 1));
  vary(
      "space", [](auto& c) { c.agents = 8; }, described(Geometry::grid, {4, 3, 5}, 3, 1, 1));
  vary(
      "cloud", [](auto& c) { c.agents = 3; }, described(Geometry::points, {10}, 2, 2, 1));
  vary(
      "file_order",
      [](auto& c) {
        c.agents = 3;
        c.order = Order::file;
      },
      described(Geometry::points, {10}, 2, 2, 1));
  auto torus = described(Geometry::grid, {5, 6}, 2, 1, 2);
  torus.periodic = {true, true};
  vary(
      "periodic", [](auto&) {}, torus);
  vary("exchange_on_a_torus", exchanging, torus);
  vary(
      "periodic_sequence",
      [](auto& c) {
        c.pool = Pool::sequence;
        c.ffn_stencil = true;
      },
      torus);
  torus = described(Geometry::mesh, {7, 4}, 2, 0, 1);
  torus.periodic = {true, false};
  vary(
      "periodic_mesh", [](auto& c) { c.ffn_stencil = true; }, torus);
  vary("edge_beside_a_periodic_axis", held, torus);
  torus = described(Geometry::grid, {11}, 1, 1, 1);
  torus.periodic = {true};
  vary(
      "periodic_line", [](auto& c) { c.agents = 3; }, torus);
  torus = described(Geometry::grid, {4, 3, 5}, 3, 1, 1);
  torus.periodic = {true, false, true};
  vary(
      "periodic_space", [](auto& c) { c.agents = 8; }, torus);
  const auto in_space = [](auto& c) {
    c.agents = 3;
    c.stencil = Stencil::neighbours;
  };
  vary("neighbours", in_space, described(Geometry::points, {23}, 2, 2, 1));
  vary(
      "ffn_neighbours",
      [&](auto& c) {
        in_space(c);
        c.ffn_stencil = true;
      },
      described(Geometry::points, {23}, 2, 1, 1));
  vary(
      "ffn_stencil_along_an_order",
      [](auto& c) {
        c.agents = 3;
        c.ffn_stencil = true;
      },
      described(Geometry::points, {12}, 2, 1, 1));
  vary("neighbours_in_space", in_space, described(Geometry::points, {41}, 3, 1, 2));
  vary("neighbours_on_a_line", in_space, described(Geometry::points, {9}, 1, 1, 1));
  vary("fewer_points_than_neighbours", in_space, described(Geometry::points, {5}, 2, 1, 1));
  vary(
      "fewer_points_than_agents", [](auto& c) { c.agents = 7; }, described(Geometry::points, {4}, 2, 1, 1));
  auto timed = grid;
  timed.time = {0.5, 0.75, 1.0};
  vary(
      "autoregressive", [](auto& c) { c.task = Task::autoregressive; }, timed);
  vary(
      "time_conditional", [](auto& c) { c.task = Task::time_conditional; }, timed);
  vary(
      "one_point", [](auto& c) { c.agents = 2; }, described(Geometry::points, {1}, 2, 1, 1));
  return all;
}

// Weights large enough that softmax, bias and GELU are far from linear.
inline void enlarge_weights(OperatorModel& model) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  for (auto& p : model.parameters()) p.copy_(0.5 * torch::randn_like(p) + 0.2 * p);
}

inline Batch random_batch(const Case& c, std::int64_t samples) {
  const std::int64_t channels = lano_shape(c.config, c.set).input_channels;
  Batch batch;
  batch.coordinates = torch::rand({samples, c.set.points(), c.set.dims()}, torch::kFloat64);
  batch.input = torch::randn({samples, c.set.points(), channels}, torch::kFloat64);
  if (c.set.geometry != Geometry::points) batch.mesh = c.set.shape;
  if (!c.set.time.empty()) batch.time = torch::rand({samples}, torch::kFloat64);
  return batch;
}

}  // namespace lano::test
