// The equations of docs/model.md, op by op, on rows of B N points:
//   f = W2 gelu(W1 [x, a] + c1) + c2 + p,   f += Attn(LN f),   f += W4 gelu(W3 LN f + c3) + c4,   u = W LN f + b
// Linear maps keep the weights of the model file, name and shape ([out, in], Gemm with transB). The graph stores the N
// x M probabilities of one block at a time, as every op-by-op engine does; liblano does not.
#include "runtime/onnx/export.h"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/error.h"
#include "model_spec/architecture.h"
#include "model_spec/lano_sizes.h"
#include "normalise/displacement.h"
#include "runtime/lano_weights.h"
#include "runtime/onnx/graph.h"
#include "runtime/onnx/order.h"
#include "runtime/onnx/points.h"
#include "runtime/other_grid.h"

namespace lano::onnx {
namespace {

constexpr const char* kDoing = "exporting a model";
constexpr std::int64_t kMostPoints = std::int64_t{1} << 24;
constexpr std::int64_t kFloat = static_cast<std::int64_t>(Type::float32),
                       kDouble = static_cast<std::int64_t>(Type::float64);

std::string listed(const std::vector<FieldInfo>& fields) {
  std::string out;
  for (const FieldInfo& field : fields) {
    out += fmt::format("{}{}{}", out.empty() ? "" : ", ", field.name, field.unit == "1" ? "" : " [" + field.unit + "]");
  }
  return out;
}

// The mesh the graph is laid for, and where it lies.
using Place = GridPlace;

Place place_of(const LanoShape& shape, const SetDescription& set, const ExportOptions& options) {
  if (shape.axes == 0) {
    const bool said = !options.mesh.empty() || !options.coordinates.empty();
    if (said)
      fail_usage_plainly(kDoing, "this model takes clouds of any number of points", "leave out --mesh and --coords");
    return {};
  }
  Place place{options.mesh.empty() ? set.shape : options.mesh, shape.spacing, shape.origin};
  std::int64_t points = 1;
  for (const std::int64_t extent : place.mesh) {
    points = extent > 0 && extent <= kMostPoints ? std::min(points * extent, kMostPoints + 1) : kMostPoints + 1;
  }
  if (static_cast<std::int64_t>(place.mesh.size()) != shape.axes || points > kMostPoints) {
    const std::string wanted =
        fmt::format("a mesh of {} axes and at most 2^24 points, like {}", shape.axes, shape_text(shape.mesh));
    fail_usage(kDoing, wanted, shape_text(place.mesh));
  }
  if (!options.coordinates.empty()) {
    if (static_cast<std::int64_t>(options.coordinates.size()) != points * shape.dims) {
      fail_usage(kDoing, fmt::format("{} coordinates: {} points of {}", points * shape.dims, points, shape.dims),
                 std::to_string(options.coordinates.size()));
    }
    place.spacing.clear();
    place.origin.clear();
    if (set.geometry == lano::Geometry::grid && uniform_grid_spacing(place.mesh, options.coordinates, &place.spacing)) {
      place.origin.assign(options.coordinates.begin(), options.coordinates.begin() + shape.dims);
    }
  } else if (place.mesh != shape.mesh && !shape.spacing.empty()) {
    place = other_grid(shape, set.box, place.mesh);
  }
  return place;
}

class Export {
 public:
  Export(const ModelFile& file, const LanoParts& parts, const Place& place, std::int64_t agents)
      : file_(file),
        config_(parts.config),
        shape_(parts.shape),
        weights_(parts.weights),
        place_(place),
        patches_(patches_for(parts.config, parts.shape, agents == 0 ? parts.config.agents : agents)) {}

  Exported run() {
    const Value coordinates = input("coordinates", file_.set.coordinates), fields = input("input", file_.set.input);
    const Value state = config_.task == Task::autoregressive ? state_input() : Value{};
    Points points(g_, config_, shape_, place_.mesh, place_.spacing, place_.origin, patches_, coordinates);
    Value order;
    g_.scope("order");
    if (!shape_.order_box.empty()) {
      order = hilbert_order(g_, coordinates, shape_.dims, fields, file_.set.input_channels(), shape_.order_box,
                            points.count());
    }
    Value f = encoder(features(coordinates, fields, state, order, points));
    if (config_.task == Task::time_conditional) f = with_time(f, points);
    for (std::size_t l = 0; l < weights_.network.blocks.size(); ++l) f = block(f, l, points);
    f = decoder(f);
    g_.scope("output");
    f = with_base(
        points.shaped(state_.empty() ? decoded(f, file_.normaliser.output) : changed(f), {shape_.output_channels}));
    if (!order.empty()) f = reordered(g_, f, inverse_order(g_, order, points.count()));
    const auto axes = point_axes(shape_.output_channels);
    g_.output("output", Type::float32, axes, listed(file_.set.output), f);
    exported_.output = described("output", axes);
    exported_.agents = points.agents();
    exported_.bytes = g_.bytes("lano", about(), metadata());
    return std::move(exported_);
  }

 private:
  Value op(const char* name, const Value& a, const Value& b) { return g_.node(name, {a, b}); }
  Value cast(const Value& x, std::int64_t type) { return g_.node("Cast", {x}, {{"to", type}}); }
  Value vector(const std::string& name, const float* values, std::int64_t size) {
    return g_.weights(name, {size}, {values, static_cast<std::size_t>(size)});
  }

  std::vector<Axis> point_axes(std::int64_t channels) const {
    return {{0, "B"}, place_.mesh.empty() ? Axis{0, "N"} : Axis{element_count(place_.mesh), ""}, {channels, ""}};
  }

  static std::string described(const std::string& name, const std::vector<Axis>& axes) {
    std::string text;
    for (const Axis& axis : axes)
      text += (text.empty() ? "" : ", ") + (axis.name.empty() ? std::to_string(axis.extent) : axis.name);
    return fmt::format("{} [{}]", name, text);
  }

  // [B, N, fields], or nothing where there are no fields.
  Value input(const std::string& name, const std::vector<FieldInfo>& fields) {
    if (fields.empty()) return {};
    const auto axes = point_axes(static_cast<std::int64_t>(fields.size()));
    exported_.inputs.push_back(described(name, axes));
    return g_.input(name, Type::float32, axes, listed(fields));
  }

  // [B, N, du]; of several frames [B, K, N, du], oldest first.
  Value state_input() {
    if (config_.state_frames == 1) return input("state", file_.set.output);
    std::vector<Axis> axes = point_axes(shape_.output_channels);
    axes.insert(axes.begin() + 1, Axis{config_.state_frames, ""});
    exported_.inputs.push_back(described("state", axes));
    return g_.input("state", Type::float32, axes, listed(file_.set.output));
  }

  // In double, as the runtime does it: coordinates far from zero keep their digits.
  Value encoded(const Value& physical, const ChannelMap& map) {
    const Value moved = op("Sub", cast(physical, kDouble), g_.doubles({map.channels()}, map.shift()));
    return cast(op("Div", moved, g_.doubles({map.channels()}, map.scale())), kFloat);
  }
  Value decoded(const Value& network, const ChannelMap& map) {
    const Value scaled = op("Mul", cast(network, kDouble), g_.doubles({map.channels()}, map.scale()));
    return cast(op("Add", scaled, g_.doubles({map.channels()}, map.shift())), kFloat);
  }
  // Behind shaped(): [B, N, du].
  Value with_base(const Value& physical) {
    const MeanField& mean = file_.normaliser.mean_output;
    if (mean.empty()) return physical;
    return op(
        "Add", physical,
        g_.floats({element_count(place_.mesh), shape_.output_channels}, mean.resampled(place_.mesh, shape_.periodic)));
  }

  // The state and what the network says it changes by.
  Value changed(const Value& network) {
    const ChannelMap& map = file_.normaliser.output;
    std::vector<double> units;
    for (std::size_t c = 0; c < map.scale().size(); ++c)
      units.push_back(file_.normaliser.increment[c] * map.scale()[c]);
    const Value change = op("Mul", cast(network, kDouble), g_.doubles({map.channels()}, units));
    return cast(op("Add", cast(state_, kDouble), change), kFloat);
  }

  Value linear(const Value& x, const std::string& name, const float* weight, const float* bias, std::int64_t out,
               std::int64_t in) {
    std::vector<Value> inputs{x, g_.weights(name + ".weight", {out, in}, {weight, static_cast<std::size_t>(out * in)})};
    if (bias != nullptr) inputs.push_back(vector(name + ".bias", bias, out));
    return g_.node("Gemm", inputs, {{"transB", std::int64_t{1}}});
  }

  Value gelu(const Value& x) {
    const Value erf = g_.node("Erf", {op("Div", x, g_.number(static_cast<float>(std::sqrt(2.0))))});
    return op("Mul", op("Mul", x, op("Add", erf, g_.number(1.0f))), g_.number(0.5f));
  }

  Value norm(const Value& x, const std::string& name, const float* gain, const float* shift) {
    return g_.node("LayerNormalization",
                   {x, vector(name + ".weight", gain, config_.width), vector(name + ".bias", shift, config_.width)},
                   {{"axis", std::int64_t{-1}}, {"epsilon", 1e-5f}});
  }

  // Distances to the nodes of the reference grid, [B, N, nodes].
  Value distances(const Value& coordinates) {
    const std::vector<float> nodes = reference_nodes(shape_);
    const Value grid = g_.floats({static_cast<std::int64_t>(nodes.size()) / shape_.dims, shape_.dims}, nodes);
    const Value apart = op("Sub", g_.node("Unsqueeze", {coordinates, g_.list({2})}), grid);
    return g_.node("Sqrt",
                   {g_.node("ReduceSum", {op("Mul", apart, apart), g_.list({3})}, {{"keepdims", std::int64_t{0}}})});
  }

  // Of the coordinates [B, N, dx], as normalise/displacement.h has it: in double, since points lie far from zero for
  // how little they move. On a finer mesh axis after axis is multiplied by the matrix of its interpolation.
  Value displacement(const Value& coordinates, const MeanField& mean) {
    const Displacement moved(mean, place_.mesh, shape_.periodic);
    Value x = cast(coordinates, kDouble);
    for (std::size_t a = 0; a < place_.mesh.size() && !moved.pointwise(); ++a) {
      const std::int64_t n = place_.mesh[a];
      const auto after = static_cast<std::int64_t>(
          element_count(Shape(place_.mesh.begin() + static_cast<std::ptrdiff_t>(a) + 1, place_.mesh.end())));
      x = g_.node("Reshape", {x, g_.list({-1, n, after * shape_.dims})});  // [B and the axes before, n, the rest]
      x = g_.node("MatMul", {g_.doubles({n, n}, moved.matrix(a)), x});
    }
    if (!moved.pointwise()) x = g_.node("Reshape", {x, g_.list({-1, element_count(place_.mesh), shape_.dims})});
    const Value apart = op("Sub", x, cast(g_.floats({element_count(place_.mesh), shape_.dims}, moved.mean()), kDouble));
    return cast(op("Div", apart, g_.doubles({shape_.dims}, mean.scale())), kFloat);
  }

  // [B N, position + da + state], in the model's order.
  Value features(const Value& coordinates, const Value& fields, const Value& state, const Value& order,
                 Points& points) {
    g_.scope("features");
    const auto in_order = [&](const Value& x) { return order.empty() ? x : reordered(g_, x, order); };
    const Value x = encoded(in_order(coordinates), file_.normaliser.coordinates);
    points.see(x);
    std::vector<Value> parts{config_.position == Position::reference ? distances(x) : x};
    if (!fields.empty()) parts.push_back(encoded(in_order(fields), file_.normaliser.input));
    if (const MeanField& mean = file_.normaliser.mean_mesh; !mean.empty()) {  // of meshes, which keep their own order
      parts.push_back(displacement(coordinates, mean));
    }
    for (std::int64_t frame = 0; !state.empty() && frame < config_.state_frames; ++frame) {
      const Value one = in_order(config_.state_frames == 1
                                     ? state
                                     : g_.node("Gather", {state, g_.number(frame)}, {{"axis", std::int64_t{1}}}));
      parts.push_back(encoded(one, file_.normaliser.output));
      if (!file_.normaliser.increment.empty() && frame + 1 == config_.state_frames)
        state_ = g_.node("Reshape", {one, g_.list({-1, shape_.output_channels})});
    }
    const Value all = parts.size() == 1 ? parts[0] : g_.node("Concat", parts, {{"axis", std::int64_t{2}}});
    return g_.node("Reshape",
                   {all, g_.list({-1, position_width(config_.position, shape_.dims) + shape_.input_channels})});
  }

  Value encoder(const Value& features) {
    g_.scope("encoder");
    const kernels::Weights& w = weights_.network;
    const std::int64_t c = config_.width, in = position_width(config_.position, shape_.dims) + shape_.input_channels;
    const Value hidden = gelu(linear(features, "encoder1", w.encoder1, w.encoder1_bias, 2 * c, in));
    return op("Add", linear(hidden, "encoder2", w.encoder2, w.encoder2_bias, c, 2 * c),
              vector("placeholder", w.placeholder, c));
  }

  // Sines and cosines of the steps since the first output time, through two layers, added to all points of a sample.
  Value with_time(const Value& f, Points& points) {
    g_.scope("time");
    exported_.inputs.push_back("time [B]");
    const Value time = g_.input("time", Type::float32, {{0, "B"}}, "the physical time of the prediction");
    const std::int64_t c = config_.width, half = std::max<std::int64_t>(1, c / 2), waves = std::min(c, 2 * half);
    std::vector<double> frequency;
    for (std::int64_t k = 0; k < half; ++k)
      frequency.push_back(std::exp(-std::log(10000.0) * static_cast<double>(k) / static_cast<double>(half)));
    const Value steps =
        op("Div", op("Sub", cast(time, kDouble), g_.number(shape_.time_origin)), g_.number(shape_.time_step));
    const Value angle = op("Mul", g_.node("Unsqueeze", {steps, g_.list({1})}), g_.doubles({half}, frequency));
    Value wave = g_.node("Sin", {angle});
    if (waves > half) wave = g_.node("Concat", {wave, g_.node("Cos", {angle})}, {{"axis", std::int64_t{1}}});
    wave = cast(wave, kFloat);
    if (waves < c) wave = g_.node("Pad", {wave, g_.list({0, 0, 0, c - waves})});  // an odd width: the last wave is zero
    const Value hidden = linear(wave, "time1", weights_.time.first, weights_.time.first_bias, c, c);
    const Value embedding = linear(op("Mul", hidden, g_.node("Sigmoid", {hidden})), "time2", weights_.time.second,
                                   weights_.time.second_bias, c, c);
    const Value sum = op("Add", points.shaped(f, {c}), g_.node("Unsqueeze", {embedding, g_.list({1})}));
    return g_.node("Reshape", {sum, g_.list({-1, c})});
  }

  // [B, rows, C] or [B N, C] seen as [B, rows, H, D] -> [B, H, rows, D], or [B, H, D, rows].
  Value heads(const Value& split, bool transposed = false) {
    return g_.node(
        "Transpose", {split},
        {{"perm", transposed ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3}}});
  }

  // b1 (x) up(b2) [M, N] and up(b3) (x) b4 [N, M], or the rows that are left of a sum; empty without bias. b1 and b3 of
  // a sum are constant along their softmax and change nothing.
  std::pair<Value, Value> biases(const std::string& name, const kernels::BlockTensors<const float*>& w,
                                 Points& points) {
    if (config_.bias == Bias::none) return {};
    const auto row = [&](const Value& x) { return g_.node("Unsqueeze", {x, g_.list({0})}); };
    const auto column = [&](const Value& x) { return g_.node("Unsqueeze", {x, g_.list({1})}); };
    const Value b2 = row(points.at_points(name + "bias2", w.bias2)),
                b4 = row(points.at_agents(name + "bias4", w.bias4));
    if (config_.bias == Bias::sum) return {b2, b4};
    const Value b1 = column(points.at_agents(name + "bias1", w.bias1)),
                b3 = column(points.at_points(name + "bias3", w.bias3));
    return {op("Mul", b1, b2), op("Mul", b3, b4)};
  }

  Value attention(const Value& x, const std::string& name, const kernels::BlockTensors<const float*>& w,
                  Points& points) {
    const std::int64_t c = config_.width, h = config_.heads, d = c / h, m = points.agents();
    const std::vector<Value> qkv =
        g_.nodes("Split", 3, {linear(x, name + "qkv", w.qkv, nullptr, 3 * c, c)}, {{"axis", std::int64_t{1}}});
    const Value q = heads(points.shaped(qkv[0], {h, d})), k = heads(points.shaped(qkv[1], {h, d}), true),
                v = heads(points.shaped(qkv[2], {h, d}));
    Value tokens;  // the agents, [B or 1, M, C]
    if (config_.agent_tokens == Agents::latent) {
      tokens = g_.weights(name + "latent", {1, m, c}, {w.latent, static_cast<std::size_t>(m * c)});
    } else {
      tokens = points.pooled(qkv[0], c);
    }
    const Value scaled = op("Mul", tokens, g_.number(static_cast<float>(1 / std::sqrt(static_cast<double>(d)))));
    const Value split = g_.node("Reshape", {scaled, g_.list({-1, m, h, d})});
    auto [bias1, bias2] = biases(name, w, points);
    const auto with = [&](const Value& bias, const Value& preferred) {
      return bias.empty() ? preferred : op("Add", preferred, bias);
    };
    if (config_.exchange) {
      const Value near = points.nearness(h);
      bias1 = with(bias1, g_.node("Transpose", {near}, {{"perm", std::vector<std::int64_t>{0, 2, 1}}}));
      bias2 = with(bias2, near);
    }
    if (const Value cells = points.log_cells(); !cells.empty()) bias1 = with(bias1, cells);
    const auto softmax = [&](const Value& logits, const Value& bias) {
      return g_.node("Softmax", {bias.empty() ? logits : op("Add", logits, bias)}, {{"axis", std::int64_t{-1}}});
    };
    Value y = op("MatMul", softmax(op("MatMul", heads(split), k), bias1), v);  // aggregation, [B, H, M, D]
    if (config_.exchange) y = op("Add", y, op("MatMul", points.exchange_maps(name + "exchange", w.exchange, h), y));
    const Value o = op("MatMul", softmax(op("MatMul", q, heads(split, true)), bias2), y);  // broadcast, [B, H, N, D]
    Value merged = g_.node("Reshape", {heads(o), g_.list({-1, c})});
    if (config_.dwc) merged = op("Add", merged, points.stencil(qkv[2], name + "dwc", w.dwc, c));
    return linear(merged, name + "out", w.out, w.out_bias, c, c);
  }

  Value block(const Value& f, std::size_t l, Points& points) {
    const kernels::BlockTensors<const float*>& w = weights_.network.blocks[l];
    const std::string name = fmt::format("blocks.{}.", l);
    const std::int64_t c = config_.width, wide = config_.ffn_ratio * c;
    g_.scope(name + "attention");
    const Value attended =
        op("Add", f, attention(norm(f, name + "norm1", w.norm1_gain, w.norm1_shift), name + "attention.", w, points));
    g_.scope(name + "ffn");
    Value hidden = linear(norm(attended, name + "norm2", w.norm2_gain, w.norm2_shift), name + "ffn1", w.ffn1,
                          w.ffn1_bias, wide, c);
    if (config_.ffn_stencil) hidden = op("Add", hidden, points.stencil(hidden, name + "ffn_dwc", w.ffn_dwc, wide));
    return op("Add", attended, linear(gelu(hidden), name + "ffn2", w.ffn2, w.ffn2_bias, c, wide));
  }

  Value decoder(const Value& f) {
    g_.scope("decoder");
    const kernels::Weights& w = weights_.network;
    const std::int64_t c = config_.width;
    Value x = norm(f, "norm", w.norm_gain, w.norm_shift);
    if (config_.decoder == Decoder::mlp) x = gelu(linear(x, "decoder_hidden", w.hidden, w.hidden_bias, c, c));
    return linear(x, "decoder", w.decoder, w.decoder_bias, shape_.output_channels, c);
  }

  std::string about() const {
    std::string text = "A Linear Attention Neural Operator. Values are physical on both sides. ";
    if (place_.mesh.empty()) {
      return text + "Clouds of any number of points, " +
             (shape_.order_box.empty() ? "in the order they were trained in." : "in any order.");
    }
    return text + fmt::format("Points of a {} of {} points, last axis fastest.", geometry_name(file_.set.geometry),
                              shape_text(place_.mesh));
  }

  std::map<std::string, std::string> metadata() const {
    const SetDescription& set = file_.set;
    return {{"name", set.name},
            {"task", file_.architecture.at("task").get<std::string>()},
            {"geometry", std::string(geometry_name(set.geometry))},
            {"mesh", nlohmann::json(place_.mesh).dump()},
            {"agents", std::to_string(element_count(patches_))},
            {"coordinates", listed(set.coordinates)},
            {"input", listed(set.input)},
            {"output", listed(set.output)},
            {"architecture", file_.architecture.dump()},
            {"set", to_json(set).dump()},
            {"provenance", file_.provenance.dump()}};
  }

  const ModelFile& file_;
  const LanoConfig& config_;
  const LanoShape& shape_;
  const LanoWeights& weights_;
  const Place& place_;
  std::vector<std::int64_t> patches_;
  Graph g_;
  Value state_;  // of models that give its change, in the model's order
  Exported exported_;
};

}  // namespace

Exported export_model(const ModelFile& file, const ExportOptions& options) {
  const std::string name = architecture_name(file.architecture);
  if (!is_lano(name)) fail(kDoing, "a LANO", fmt::format("'{}'", name), "other operators have no export");
  const LanoParts parts = lano_parts(file, kDoing);
  const Place place = place_of(parts.shape, file.set, options);
  return Export(file, parts, place, options.agents).run();
}

}  // namespace lano::onnx
