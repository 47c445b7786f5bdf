#include "model_spec/lano_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/strict_json.h"

namespace lano {
namespace {

using nlohmann::json;

json to_json_value(const ConfigValue& value) {
  return std::visit([](const auto& v) { return json(v); }, value);
}

ConfigValue to_config_value(const json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return whole_number(value, "reading an architecture", "a switch");
  if (value.is_number()) return value.get<double>();
  return value.get<std::string>();
}

// max log(n_i/m_i) - min log(n_i/m_i): 0 for patches square in index.
double aspect_spread(const std::vector<std::int64_t>& patches, const Shape& shape) {
  double least = 1e300, most = -1e300;
  for (std::size_t a = 0; a < patches.size(); ++a) {
    const double extent = std::log(static_cast<double>(shape[a]) / static_cast<double>(patches[a]));
    least = std::min(least, extent);
    most = std::max(most, extent);
  }
  return most - least;
}

// Every way to write `agents` as m1 * m2 * ..., largest m1 first so that the first of equals wins.
void factorise(std::int64_t agents, const Shape& shape, std::vector<std::int64_t>& prefix,
               std::vector<std::int64_t>& best, double& best_spread) {
  const std::size_t axis = prefix.size();
  if (axis == shape.size()) {
    if (agents != 1) return;
    const double spread = aspect_spread(prefix, shape);
    if (spread < best_spread - 1e-12) {
      best_spread = spread;
      best = prefix;
    }
    return;
  }
  for (std::int64_t m = std::min(agents, shape[axis]); m >= 1; --m) {
    if (agents % m != 0) continue;
    prefix.push_back(m);
    factorise(agents / m, shape, prefix, best, best_spread);
    prefix.pop_back();
  }
}

}  // namespace

void bind_lano_config(Schema& schema, LanoConfig& c) {
  schema.bind("model.layers", c.layers, "number of agent-attention blocks, L");
  schema.bind("model.heads", c.heads, "attention heads, H");
  schema.bind("model.width", c.width, "channels of the hidden features, C; a multiple of heads");
  schema.bind("model.agents", c.agents, "agent tokens, M");
  schema.bind("model.ffn_ratio", c.ffn_ratio, "hidden width of the feed-forward network over C");
  schema.bind<Bias>("model.bias", c.bias, {{"outer", Bias::outer}, {"sum", Bias::sum}, {"none", Bias::none}},
                    "how four vectors make the bias matrices B1 and B2");
  schema.bind("model.dwc", c.dwc, "depthwise convolution of the values, added to attention");
  schema.bind("model.ffn_stencil", c.ffn_stencil,
              "depthwise convolution of the hidden features of the feed-forward part");
  schema.bind("model.exchange", c.exchange,
              "agents have a place: heads see near agents first, and agents exchange what they gathered");
  schema.bind<Agents>("model.agent_tokens", c.agent_tokens, {{"pooled", Agents::pooled}, {"latent", Agents::latent}},
                      "agents pooled from the queries, or learned");
  schema.bind<Pool>("model.pool", c.pool, {{"grid", Pool::grid}, {"sequence", Pool::sequence}},
                    "agents pooled over patches of the grid, or over pieces of the point order");
  schema.bind<Order>("model.order", c.order, {{"hilbert", Order::hilbert}, {"file", Order::file}},
                     "order of a point cloud");
  schema.bind<Stencil>("model.stencil", c.stencil, {{"order", Stencil::order}, {"neighbours", Stencil::neighbours}},
                       "of a point cloud: along its order, or over the nearest points in space");
  schema.bind<Position>("model.position", c.position,
                        {{"coordinates", Position::coordinates}, {"reference", Position::reference}},
                        "position features: coordinates, or distances to an 8x8 reference grid");
  schema.bind<Decoder>("model.decoder", c.decoder, {{"linear", Decoder::linear}, {"mlp", Decoder::mlp}},
                       "last map from features to fields");
  schema.bind<DwcSpacing>("model.dwc_spacing", c.dwc_spacing,
                          {{"physical", DwcSpacing::physical}, {"index", DwcSpacing::index}},
                          "at other resolutions the stencil keeps its training spacing, or its indices");
  schema.bind<Padding>("model.padding", c.padding, {{"zeros", Padding::zeros}, {"edge", Padding::edge}},
                       "what the stencils read beyond the ends of a mesh: zeros, or the value at the end");
  schema.bind<FirstWeights>("model.first_weights", c.first_weights,
                            {{"fixed", FirstWeights::fixed}, {"scaled", FirstWeights::scaled}},
                            "deviation of a linear map's initial weights: 0.02, or 0.5 / sqrt(inputs)");
  schema.bind("model.dropout", c.dropout, "share of features dropped while training");
  schema.bind<Task>("model.task", c.task,
                    {{"steady", Task::steady},
                     {"autoregressive", Task::autoregressive},
                     {"time_conditional", Task::time_conditional}},
                    "a field from inputs, the next state from this one, or a field at a given time");
  schema.bind("model.state_frames", c.state_frames,
              "autoregressive: frames a step starts from; 0: the initial frames of the dataset, or one");
}

std::int64_t chosen_state_frames(const LanoConfig& config, const SetDescription& set) {
  if (config.task != Task::autoregressive) return 1;
  return config.state_frames > 0 ? config.state_frames : std::max<std::int64_t>(1, set.given_frames);
}

std::int64_t given_frames(Task task, std::int64_t state_frames, const SetDescription& set) {
  return task == Task::autoregressive ? std::max(state_frames, set.given_frames) : 0;
}

std::int64_t state_channels(Task task, std::int64_t state_frames, std::int64_t output_channels) {
  return task == Task::autoregressive ? std::max<std::int64_t>(1, state_frames) * output_channels : 0;
}

std::int64_t stencil_axes(const LanoConfig& config, const LanoShape& shape) {
  if (shape.axes > 0) return shape.axes;
  return config.stencil == Stencil::neighbours ? shape.dims : 1;
}

bool has_stencil(const LanoConfig& config) { return config.dwc || config.ffn_stencil; }

bool reads_neighbours(const LanoConfig& config, const LanoShape& shape) {
  return has_stencil(config) && shape.axes == 0 && config.stencil == Stencil::neighbours;
}

void check_lano_config(const LanoConfig& c) {
  const auto within = [](const char* key, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most)
      fail_usage("reading the model's config", fmt::format("model.{} of 1 to {}", key, most), std::to_string(value));
  };
  within("layers", c.layers, kMostLayers);
  within("width", c.width, kMostWidth);
  within("heads", c.heads, kMostWidth);
  within("agents", c.agents, kMostAgents);
  within("ffn_ratio", c.ffn_ratio, 1024);
  if (c.state_frames < 0 || c.state_frames > kMostStateFrames)
    fail_usage("reading the model's config", fmt::format("model.state_frames of 0 to {}", kMostStateFrames),
               std::to_string(c.state_frames));
  if (c.dropout < 0 || c.dropout >= 1) {
    fail_usage("reading the model's config", "model.dropout in [0, 1)", fmt::format("{}", c.dropout));
  }
  if (c.width % c.heads != 0) {
    fail_usage("reading the model's config", "model.width to be a multiple of model.heads",
               fmt::format("{} and {}", c.width, c.heads));
  }
}

std::vector<std::int64_t> choose_patches(std::int64_t agents, const Shape& shape) {
  std::vector<std::int64_t> best, prefix;
  double best_spread = 1e300;
  factorise(agents, shape, prefix, best, best_spread);
  if (best.empty()) {
    fail_usage("choosing the patch grid of the agents",
               fmt::format("model.agents that factors into patches of a {} grid", shape_text(shape)),
               std::to_string(agents), "take a power of two below the number of points, or model.pool=sequence");
  }
  return best;
}

std::vector<std::int64_t> nearest_patches(std::int64_t agents, const Shape& shape) {
  const std::int64_t points = element_count(shape);
  agents = std::min(agents, points);
  const std::int64_t farthest = std::min(points, agents + 4096);
  for (std::int64_t distance = 0; distance < farthest; ++distance) {
    for (const std::int64_t candidate : {agents - distance, agents + distance}) {
      if (candidate < 1 || candidate > points) continue;
      std::vector<std::int64_t> best, prefix;
      double spread = 1e300;
      factorise(candidate, shape, prefix, best, spread);
      if (!best.empty() && spread <= std::log(2.0) + 1e-9) return best;
    }
  }
  return choose_patches(1, shape);
}

LanoShape lano_shape(const LanoConfig& config, const SetDescription& set, const std::vector<double>& spacing,
                     const std::vector<double>& origin) {
  LanoShape shape;
  shape.dims = set.dims();
  shape.input_channels = set.input_channels() + state_channels(config.task, config.state_frames, set.output_channels());
  shape.output_channels = set.output_channels();
  shape.axes = set.geometry == Geometry::points ? 0 : static_cast<std::int64_t>(set.shape.size());
  if (shape.axes == 0 && config.order == Order::hilbert) shape.order_box = set.box;
  if (shape.axes > 3) fail("making a LANO", "a grid of one, two or three axes", shape_text(set.shape));
  const bool on_grid = shape.axes > 0 && config.pool == Pool::grid;
  if (shape.axes > 0) {
    shape.mesh = set.shape;
    if (std::find(set.periodic.begin(), set.periodic.end(), true) != set.periodic.end()) shape.periodic = set.periodic;
    shape.spacing = spacing;
    shape.origin = origin.empty() ? std::vector<double>(spacing.size(), 0.0) : origin;
  } else {
    shape.points = set.points();
  }
  if (config.position == Position::reference) {
    for (std::int64_t a = 0; a < shape.dims; ++a) shape.reference_box.insert(shape.reference_box.end(), {0.0, 1.0});
  }
  if (set.time.size() > 1) {
    shape.time_origin = set.time.front();
    shape.time_step = (set.time.back() - set.time.front()) / static_cast<double>(set.time.size() - 1);
  }
  if (on_grid) shape.patches = choose_patches(config.agents, set.shape);
  return shape;
}

json architecture_json(const std::string& name, const Schema& switches, const LanoShape& shape) {
  json out{{"name", name},
           {"dims", shape.dims},
           {"input_channels", shape.input_channels},
           {"output_channels", shape.output_channels},
           {"axes", shape.axes},
           {"patches", shape.patches},
           {"order_box", shape.order_box},
           {"reference_box", shape.reference_box},
           {"mesh", shape.mesh},
           {"spacing", shape.spacing},
           {"origin", shape.origin},
           {"points", shape.points},
           {"time_origin", shape.time_origin},
           {"time_step", shape.time_step}};
  if (!shape.periodic.empty()) out["periodic"] = shape.periodic;
  for (const Schema::Key& key : switches.keys())
    out[key.name.substr(key.name.find('.') + 1)] = to_json_value(key.get());
  return out;
}

json to_json(const LanoConfig& config, const LanoShape& shape) {
  LanoConfig copy = config;
  copy.state_frames = std::max<std::int64_t>(1, config.state_frames);
  Schema schema;
  bind_lano_config(schema, copy);
  return architecture_json("lano", schema, shape);
}

void architecture_from_json(const json& from, const Schema& switches, LanoShape& shape) {
  constexpr const char* kReading = "reading an architecture";
  const auto whole = [&](const char* key) { return whole_number(from.at(key), kReading, key); };
  try {
    for (const Schema::Key& key : switches.keys()) {
      const json& value = from.at(key.name.substr(key.name.find('.') + 1));
      if (!key.set(to_config_value(value)))
        fail("reading an architecture", key.type + " for " + key.name,
             value.is_structured() ? value.type_name() : value.dump());
    }
    shape.dims = whole("dims");
    shape.input_channels = whole("input_channels");
    shape.output_channels = whole("output_channels");
    shape.axes = whole("axes");
    shape.patches = whole_numbers(from.at("patches"), kReading, "patches");
    shape.order_box = from.at("order_box").get<std::vector<double>>();
    shape.reference_box = from.at("reference_box").get<std::vector<double>>();
    shape.mesh = whole_numbers(from.at("mesh"), kReading, "mesh");
    shape.spacing = from.at("spacing").get<std::vector<double>>();
    shape.origin = from.at("origin").get<std::vector<double>>();
    if (from.contains("periodic")) shape.periodic = from.at("periodic").get<std::vector<bool>>();
    shape.points = whole("points");
    shape.time_origin = from.at("time_origin");
    shape.time_step = from.at("time_step");
  } catch (const json::exception& error) {
    fail("reading an architecture", "all sizes and switches of the model", json_reason(error), "the file is damaged");
  }
  const auto axes = static_cast<std::size_t>(shape.axes);
  if (shape.axes < 0 || shape.axes > 3 || shape.dims < 1 || shape.dims > 3 || shape.input_channels < 0 ||
      shape.output_channels < 1 || shape.mesh.size() != axes ||
      (!shape.patches.empty() && shape.patches.size() != axes) ||
      (!shape.periodic.empty() && shape.periodic.size() != axes) ||
      (!shape.spacing.empty() && (shape.spacing.size() != axes || shape.origin.size() != axes))) {
    fail_plainly("reading an architecture", "its sizes do not fit together", "the file is damaged");
  }
  std::int64_t points = 1;
  for (std::size_t a = 0; a < axes; ++a) {
    const bool fits = shape.mesh[a] >= 1 && shape.mesh[a] <= (std::int64_t{1} << 40) / points;
    if (fits) points *= shape.mesh[a];
    const bool good = fits && (shape.spacing.empty() || (shape.spacing[a] > 0 && std::isfinite(shape.spacing[a]) &&
                                                         std::isfinite(shape.origin[a])));
    if (!good)
      fail_plainly("reading an architecture", "the mesh needs at least one point per axis and spacings above 0",
                   "the file is damaged");
  }
  if (!std::isfinite(shape.time_origin) || !std::isfinite(shape.time_step) || shape.time_step == 0) {
    fail_plainly("reading an architecture", "time_origin is not finite, or time_step is 0 or not finite",
                 "the file is damaged");
  }
}

void check_reference_box(Position position, const LanoShape& shape) {
  if (position == Position::reference && shape.reference_box.size() != static_cast<std::size_t>(2 * shape.dims)) {
    fail("reading an architecture", "reference_box with two numbers per axis",
         std::to_string(shape.reference_box.size()));
  }
}

void lano_from_json(const json& from, LanoConfig& config, LanoShape& shape) {
  Schema schema;
  bind_lano_config(schema, config);
  json whole = from;
  if (whole.is_object()) {  // files written before these switches
    if (!whole.contains("stencil")) whole["stencil"] = "order";
    if (!whole.contains("ffn_stencil")) whole["ffn_stencil"] = false;
    if (!whole.contains("exchange")) whole["exchange"] = false;
    if (!whole.contains("padding")) whole["padding"] = "zeros";
    if (!whole.contains("first_weights")) whole["first_weights"] = "fixed";
    if (!whole.contains("state_frames")) whole["state_frames"] = 1;
  }
  architecture_from_json(whole, schema, shape);
  try {
    check_lano_config(config);
  } catch (const UsageError& error) {  // such numbers are only in a damaged file
    throw Error(std::string(error.what()) + "; the file is damaged");
  }
  config.state_frames = std::max<std::int64_t>(1, config.state_frames);
  std::int64_t patches = 1;
  for (const std::int64_t m : shape.patches) patches = m > 0 && patches <= config.agents ? patches * m : -1;
  if (!shape.patches.empty() && patches != config.agents)
    fail_plainly("reading an architecture", "its sizes do not fit together", "the file is damaged");
  check_reference_box(config.position, shape);
  const bool ordered = shape.axes == 0 && config.order == Order::hilbert;
  if (shape.order_box.size() != static_cast<std::size_t>(ordered ? 2 * shape.dims : 0)) {
    fail("reading an architecture",
         ordered ? "order_box with two numbers per axis" : "no order_box, since the points are not sorted",
         fmt::format("{} numbers", shape.order_box.size()));
  }
  for (const double edge : shape.order_box) {
    if (!std::isfinite(edge)) fail_plainly("reading an architecture", "order_box is not finite", "the file is damaged");
  }
}

}  // namespace lano
