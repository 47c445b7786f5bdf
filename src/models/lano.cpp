// Cost of a block: 2NC(4C + 2rC) for the linear maps and 8NMC for attention. The composite path stores both N x M
// probability matrices for its backward pass.
#include "models/lano.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"

namespace lano {
namespace {

namespace F = torch::nn::functional;

// [B,N,C] as an image [B,C,n1,n2(,n3)] without a copy: channels stay fastest in memory.
torch::Tensor to_image(const torch::Tensor& x, const Shape& mesh) {
  std::vector<std::int64_t> sizes{x.size(0)}, order{0};
  sizes.insert(sizes.end(), mesh.begin(), mesh.end());
  sizes.push_back(x.size(2));
  order.push_back(static_cast<std::int64_t>(mesh.size()) + 1);
  for (std::size_t a = 0; a < mesh.size(); ++a) order.push_back(static_cast<std::int64_t>(a) + 1);
  return x.unflatten(1, at::IntArrayRef(mesh)).view(sizes).permute(order);
}

// [B,C,n1,...] -> [B,N,C]
torch::Tensor from_image(const torch::Tensor& image) { return image.flatten(2).transpose(1, 2); }

// [B,R,C] -> [B,H,R,D]
torch::Tensor split_heads(const torch::Tensor& x, std::int64_t heads) {
  return x.unflatten(2, {heads, x.size(2) / heads}).transpose(1, 2);
}

// Distances from each point to the 8^dx nodes of a reference grid over the unit box of normalised coordinates.
constexpr std::int64_t kReferenceNodes = 8;

std::int64_t position_width(const LanoConfig& config, const LanoShape& shape) {
  if (config.position == Position::coordinates) return shape.dims;
  std::int64_t width = 1;
  for (std::int64_t a = 0; a < shape.dims; ++a) width *= kReferenceNodes;
  return width;
}

// Rows: the taps at -reach, 0, +reach; columns: points -ceil(reach) .. ceil(reach). A tap between two points is shared
// linearly by them.
torch::Tensor tap_weights(double reach, const torch::Tensor& like) {
  const auto side = static_cast<std::int64_t>(std::ceil(reach - 1e-9));
  torch::Tensor weights = torch::zeros({3, 2 * side + 1}, torch::kFloat64);
  auto at = weights.accessor<double, 2>();
  for (int tap = 0; tap < 3; ++tap) {
    const double place = static_cast<double>(side) + (tap - 1) * reach;
    const auto low = static_cast<std::int64_t>(std::floor(place + 1e-9));
    const double share = std::max(0.0, place - static_cast<double>(low));
    at[tap][low] += 1 - share;
    if (share > 0) at[tap][low + 1] += share;
  }
  return weights.to(like.dtype());
}

// A normal deviate cut at two, in units of the weights, as the public recipes do; with a deviation of 0.02 the cut is
// a formality, kept because it is the definition.
double truncated_normal(RandomStream& stream, double deviation) {
  for (;;) {
    const double value = deviation * stream.normal();
    if (std::abs(value) <= 2) return value;
  }
}

}  // namespace

AgentAttention::AgentAttention(const LanoConfig& config, const LanoShape& shape)
    : config_(config),
      patches_(shape.patches.empty() ? Shape{config.agents} : shape.patches),
      used_patches_(patches_) {
  const std::int64_t c = config.width;
  qkv_ = register_module("qkv", torch::nn::Linear(torch::nn::LinearOptions(c, 3 * c).bias(false)));
  out_ = register_module("out", torch::nn::Linear(c, c));
  if (config.dwc) {
    // One filter a channel: [C,1,3,3] on a plane, [C,1,3] along a line or the order of a cloud, [C,1,3,3,3] in space.
    std::vector<std::int64_t> sizes{c, 1};
    sizes.insert(sizes.end(), static_cast<std::size_t>(std::max<std::int64_t>(shape.axes, 1)), 3);
    dwc_ = register_parameter("dwc", torch::empty(sizes));
  }
  if (config.bias != Bias::none) {
    b1_ = register_parameter("bias1", torch::empty({config.agents}));
    b2_ = register_parameter("bias2", torch::empty({config.agents}));
    b3_ = register_parameter("bias3", torch::empty({config.agents}));
    b4_ = register_parameter("bias4", torch::empty({config.agents}));
  }
  if (config.agent_tokens == Agents::latent) {
    latent_ = register_parameter("latent", torch::empty({config.agents, c}));
  }
}

Shape AgentAttention::pool_mesh(const Shape& mesh, std::int64_t points) const {
  return patches_.size() == mesh.size() && (patches_.size() > 1 || mesh.size() == 1) ? mesh : Shape{points};
}

torch::Tensor AgentAttention::pool(const torch::Tensor& q, const Shape& mesh) const {
  const torch::Tensor image = to_image(q, pool_mesh(mesh, q.size(1)));
  const auto& to = used_patches_;
  switch (to.size()) {
    case 1:  // a line as an image of one row: the two-dimensional pool works on channels-last memory without a copy
      return from_image(torch::adaptive_avg_pool2d(image.unsqueeze(2), {1, to[0]}));
    case 2:
      return from_image(torch::adaptive_avg_pool2d(image, {to[0], to[1]}));
    default:
      return from_image(torch::adaptive_avg_pool3d(image, {to[0], to[1], to[2]}));
  }
}

torch::Tensor AgentAttention::interpolate(const torch::Tensor& vector, const Shape& to) const {
  if (to == patches_) return vector;
  // t = (n+1/2) m/n - 1/2, clamped: exactly interpolation without aligned corners.
  const auto options = F::InterpolateFuncOptions().size(std::vector<std::int64_t>(to)).align_corners(false);
  std::vector<std::int64_t> sizes{1, 1};
  sizes.insert(sizes.end(), patches_.begin(), patches_.end());
  const torch::Tensor image = vector.view(sizes);
  switch (patches_.size()) {
    case 1: return F::interpolate(image, F::InterpolateFuncOptions(options).mode(torch::kLinear)).flatten();
    case 2: return F::interpolate(image, F::InterpolateFuncOptions(options).mode(torch::kBilinear)).flatten();
    default: return F::interpolate(image, F::InterpolateFuncOptions(options).mode(torch::kTrilinear)).flatten();
  }
}

std::pair<torch::Tensor, torch::Tensor> AgentAttention::biases(const Shape& mesh) const {
  const auto agents = [&](const torch::Tensor& vector) { return interpolate(vector, used_patches_); };
  switch (config_.bias) {
    case Bias::outer:
      return {torch::outer(agents(b1_), interpolate(b2_, mesh)), torch::outer(interpolate(b3_, mesh), agents(b4_))};
    // b1 and b3 would be constant along the softmax and change nothing: they are left out, so their gradient is zero.
    case Bias::sum: return {interpolate(b2_, mesh).unsqueeze(0), agents(b4_).unsqueeze(0)};
    case Bias::none: break;
  }
  return {};
}

torch::Tensor AgentAttention::stencil(const torch::Tensor& v, const Shape& mesh, const std::vector<double>& reach) const {
  // A line (or the order of a cloud) as an image of one row.
  const bool line = dwc_.dim() == 3;
  const torch::Tensor image = line ? to_image(v, {v.size(1)}).unsqueeze(2) : to_image(v, mesh);
  torch::Tensor filter = line ? dwc_.unsqueeze(2) : dwc_;
  std::vector<std::int64_t> dilation, padding;
  if (line) {
    dilation.push_back(1);
    padding.push_back(0);
  }
  bool whole = true;
  for (const double r : reach) whole = whole && r >= 1 && std::abs(r - std::round(r)) < 1e-3;
  for (std::size_t a = 0; a < reach.size(); ++a) {
    if (whole) {
      dilation.push_back(std::llround(reach[a]));
      padding.push_back(dilation.back());
      continue;
    }
    // Taps between points are shared linearly by the two points beside them: the filter of three taps becomes one of
    // 2 ceil(reach) + 1. tensordot moves each treated axis to the end, so all axes end in their own order.
    const torch::Tensor spread = tap_weights(reach[a], filter);
    filter = torch::tensordot(filter, spread, {line ? 3 : 2}, {0});
    dilation.push_back(1);
    padding.push_back(spread.size(1) / 2);
  }
  return from_image(reach.size() == 3 ? torch::conv3d(image, filter, {}, 1, padding, dilation, v.size(2))
                                      : torch::conv2d(image, filter, {}, 1, padding, dilation, v.size(2)));
}

torch::Tensor AgentAttention::attend(const torch::Tensor& qkv, const Shape& mesh, const std::vector<double>& reach) {
  const std::int64_t batch = qkv.size(0), points = qkv.size(1), c = config_.width, heads = config_.heads, d = c / heads;
  const std::int64_t groups = batch * heads, agents = element_count(used_patches_);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  const torch::Tensor parts = qkv.unflatten(2, {3, heads, d}).permute({2, 0, 3, 1, 4}).contiguous();  // [3,B,H,N,D]
  const torch::Tensor q = parts[0].view({groups, points, d});
  const torch::Tensor k = parts[1].view({groups, points, d});
  const torch::Tensor v = parts[2].view({groups, points, d});
  const torch::Tensor tokens =
      latent_.defined() ? latent_.unsqueeze(0).expand({batch, agents, c}) : pool(qkv.narrow(2, 0, c), mesh);  // [B,M,C]
  const torch::Tensor a = split_heads(tokens, heads).reshape({groups, agents, d});

  const auto [bias1, bias2] = biases(pool_mesh(mesh, points));
  const auto logits = [&](const torch::Tensor& bias, const torch::Tensor& left, const torch::Tensor& right) {
    const torch::Tensor transposed = right.transpose(1, 2);
    return bias.defined() ? torch::baddbmm(bias, left, transposed, 1, scale) : torch::bmm(left * scale, transposed);
  };
  const torch::Tensor y = torch::bmm(torch::softmax(logits(bias1, a, k), -1), v);   // aggregation, [BH,M,D]
  const torch::Tensor o = torch::bmm(torch::softmax(logits(bias2, q, a), -1), y);   // broadcast, [BH,N,D]
  const torch::Tensor merged = o.view({batch, heads, points, d}).transpose(1, 2).reshape({batch, points, c});
  if (!dwc_.defined()) return merged;
  // A copy of the values in one piece: on the strided view the convolution is four times slower than the copy costs.
  return merged + stencil(qkv.narrow(2, 2 * c, c).contiguous(), mesh, reach);
}

torch::Tensor AgentAttention::forward(const torch::Tensor& x, const Layout& layout) {
  const torch::Tensor qkv = qkv_(x);  // [B,N,3C]
  if (layout.counts.empty()) return out_(attend(qkv, layout.mesh, layout.reach));
  // Packed clouds: maps of single points see them all at once, attention and stencil one cloud at a time.
  std::vector<torch::Tensor> clouds;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layout.counts.size(); ++i) {
    clouds.push_back(attend(qkv.narrow(1, first, layout.counts[i]), {}, {layout.reaches[i]}));
    first += layout.counts[i];
  }
  return out_(torch::cat(clouds, 1));
}

AgentBlock::AgentBlock(const LanoConfig& config, const LanoShape& shape) : dropout_(config.dropout) {
  const std::int64_t c = config.width;
  norm1_ = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c}).eps(1e-5)));
  attention_ = register_module("attention", std::make_shared<AgentAttention>(config, shape));
  norm2_ = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c}).eps(1e-5)));
  up_ = register_module("ffn1", torch::nn::Linear(c, config.ffn_ratio * c));
  down_ = register_module("ffn2", torch::nn::Linear(config.ffn_ratio * c, c));
}

torch::Tensor AgentBlock::drop(const torch::Tensor& x) const {
  return dropout_ > 0 ? torch::dropout(x, dropout_, is_training()) : x;
}

torch::Tensor AgentBlock::forward(torch::Tensor f, const Layout& layout) {
  f = f + drop(attention_->forward(norm1_(f), layout));
  return f + drop(down_(torch::gelu(up_(norm2_(f)))));
}

Lano::Lano(const nlohmann::json& architecture, std::uint64_t seed) {
  lano_from_json(architecture, config_, shape_);
  const std::int64_t c = config_.width;
  encoder1_ = register_module("encoder1",
                           torch::nn::Linear(position_width(config_, shape_) + shape_.input_channels, 2 * c));
  encoder2_ = register_module("encoder2", torch::nn::Linear(2 * c, c));
  placeholder_ = register_parameter("placeholder", torch::empty({c}));
  torch::nn::ModuleList blocks;
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    blocks_.push_back(std::make_shared<AgentBlock>(config_, shape_));
    blocks->push_back(blocks_.back());
  }
  register_module("blocks", blocks);
  norm_ = register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c}).eps(1e-5)));
  if (config_.decoder == Decoder::mlp) decoder_hidden_ = register_module("decoder_hidden", torch::nn::Linear(c, c));
  decoder_ = register_module("decoder", torch::nn::Linear(c, shape_.output_channels));
  if (config_.task == Task::time_conditional) {
    time1_ = register_module("time1", torch::nn::Linear(c, c));
    time2_ = register_module("time2", torch::nn::Linear(c, c));
  }
  initialise(seed);
}

void Lano::initialise(std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  std::uint64_t ordinal = 0;
  for (const auto& item : named_parameters()) {
    const std::string& name = item.key();
    RandomStream stream(seed, Purpose::initialise, 0, ordinal++);
    const bool is_bias = name.ends_with(".bias");
    const bool is_norm = name.find("norm") != std::string::npos;
    std::vector<float> values(static_cast<std::size_t>(item.value().numel()));
    for (float& value : values) {
      if (name == "placeholder") {
        value = static_cast<float>(stream.uniform() / static_cast<double>(config_.width));
      } else if (name.ends_with(".dwc")) {
        const double reach = 1 / std::sqrt(static_cast<double>(item.value().numel() / config_.width));
        value = static_cast<float>((2 * stream.uniform() - 1) * reach);
      } else if (is_norm) {
        value = is_bias ? 0.0f : 1.0f;
      } else {
        value = is_bias ? 0.0f : static_cast<float>(truncated_normal(stream, 0.02));
      }
    }
    item.value().copy_(torch::from_blob(values.data(), item.value().sizes()));
  }
}

torch::Tensor Lano::position_features(const torch::Tensor& coordinates) const {
  if (config_.position == Position::coordinates) return coordinates;
  const torch::Tensor axis = torch::linspace(0, 1, kReferenceNodes, coordinates.options());
  const std::vector<torch::Tensor> axes(static_cast<std::size_t>(shape_.dims), axis);
  const torch::Tensor nodes = shape_.dims == 1 ? axis.unsqueeze(1)
                                               : torch::stack(torch::meshgrid(axes, "ij"), -1).view({-1, shape_.dims});
  return torch::cdist(coordinates, nodes.unsqueeze(0).expand({coordinates.size(0), -1, -1}));
}

torch::Tensor Lano::time_features(const Batch& batch) {
  // tau counts time steps since the first output; sin and cos of tau w_k, w_k = 10000^(-k / (C/2)), k < C/2.
  const std::int64_t half = std::max<std::int64_t>(1, config_.width / 2);
  const auto options = batch.coordinates.options();
  const torch::Tensor tau = (batch.time.to(options.dtype()) - shape_.time_origin) / shape_.time_step;
  const torch::Tensor frequency = torch::exp(torch::arange(half, options) * (-std::log(10000.0) / static_cast<double>(half)));
  const torch::Tensor angle = torch::outer(tau, frequency);
  torch::Tensor wave = torch::cat({torch::sin(angle), torch::cos(angle)}, -1);
  if (wave.size(1) < config_.width) wave = torch::constant_pad_nd(wave, {0, config_.width - wave.size(1)});
  torch::Tensor features = time2_(torch::silu(time1_(wave)));
  if (batch.counts.empty()) return features.unsqueeze(1);
  return torch::repeat_interleave(features, torch::tensor(batch.counts, torch::kInt64), 0).unsqueeze(0);
}

Layout Lano::layout_of(const Batch& batch) const {
  Layout layout{batch.mesh, {}, batch.counts, {}};
  const bool physical = config_.dwc_spacing == DwcSpacing::physical;
  if (shape_.axes == 0) {
    // Along the Hilbert order the same distance in space spans N/N0 times as many points.
    const bool scaled = physical && config_.order == Order::hilbert && shape_.points > 0;
    const auto reach = [&](std::int64_t points) {
      return scaled ? static_cast<double>(points) / static_cast<double>(shape_.points) : 1.0;
    };
    layout.reach = {reach(batch.coordinates.size(1))};
    for (const std::int64_t count : batch.counts) layout.reaches.push_back(reach(count));
    return layout;
  }
  if (batch.mesh.size() != static_cast<std::size_t>(shape_.axes)) {
    fail("applying a LANO", std::to_string(shape_.axes) + " axes", shape_text(batch.mesh));
  }
  for (std::size_t a = 0; a < batch.mesh.size(); ++a) {
    double reach = 1;
    if (physical && !shape_.spacing.empty() && !batch.spacing.empty()) {
      reach = shape_.spacing[a] / batch.spacing[a];
    } else if (physical && shape_.mesh[a] > 1 && batch.mesh[a] > 1) {
      reach = static_cast<double>(batch.mesh[a] - 1) / static_cast<double>(shape_.mesh[a] - 1);
    }
    layout.reach.push_back(std::abs(reach - 1) < 1e-3 ? 1 : reach);
  }
  return layout;
}

std::int64_t Lano::use_agents(std::int64_t agents) {
  if (agents < 1) fail_usage("choosing the agents", "at least 1", std::to_string(agents));
  if (config_.agent_tokens == Agents::latent && agents != config_.agents) {
    fail_usage("choosing the agents", std::to_string(config_.agents) + ", as trained: latent agents are learned one by one",
               std::to_string(agents));
  }
  std::vector<std::int64_t> patches{agents};
  if (agents == config_.agents) {
    if (!shape_.patches.empty()) patches = shape_.patches;
  } else if (!shape_.patches.empty()) {
    patches = nearest_patches(agents, shape_.mesh);
  }
  for (const auto& block : blocks_) block->attention().use_patches(patches);
  return element_count(patches);
}

torch::Tensor Lano::forward(const Batch& batch) {
  torch::Tensor f = position_features(batch.coordinates);
  if (shape_.input_channels > 0) f = torch::cat({f, batch.input}, -1);
  f = encoder2_(torch::gelu(encoder1_(f))) + placeholder_;
  if (time1_) f = f + time_features(batch);
  const Layout layout = layout_of(batch);
  for (const auto& block : blocks_) f = block->forward(f, layout);
  f = norm_(f);
  if (decoder_hidden_) f = torch::gelu(decoder_hidden_(f));
  return decoder_(f);
}

}  // namespace lano
