// Cost of a block: 2NC(4C + 2rC) for the linear maps and 8NMC for attention. The composite path stores both N x M
// probability matrices for its backward pass.
#include "libtorch/lano.h"

#include <cmath>

#include "core/error.h"
#include "kernels/neighbours.h"
#include "libtorch/features.h"
#include "libtorch/images.h"
#include "libtorch/linear_attention.h"
#include "model_spec/lano_sizes.h"
#include "train/first_weights.h"

namespace lano {
namespace {

torch::TensorOptions numbers_like(const torch::Tensor& x) {
  return x.options().dtype(torch::kFloat64).requires_grad(false);
}
torch::TensorOptions indices_like(const torch::Tensor& x) {
  return x.options().dtype(torch::kInt64).requires_grad(false);
}

// Rows: the taps at -reach, 0, +reach; columns: points -ceil(reach) .. ceil(reach). A tap between two points is shared
// linearly by them.
torch::Tensor tap_weights(double reach, const torch::Tensor& like) {
  const auto side = static_cast<std::int64_t>(std::ceil(reach - 1e-3));
  torch::Tensor weights = torch::zeros({3, 2 * side + 1}, torch::kFloat64);  // CPU: filled here, moved below
  auto at = weights.accessor<double, 2>();
  for (int tap = 0; tap < 3; ++tap) {
    const double place = std::clamp(static_cast<double>(side) + (tap - 1) * reach, 0.0, static_cast<double>(2 * side));
    const auto low = static_cast<std::int64_t>(std::floor(place + 1e-9));
    const double share = std::max(0.0, place - static_cast<double>(low));
    at[tap][low] += 1 - share;
    if (share > 0) at[tap][low + 1] += share;
  }
  return weights.to(like.device(), like.scalar_type());
}

// In training the stencil read values at places 0 .. n0-1 and zeros at -1 and n0. Between those places it is continued
// linearly: values fade from 1 at the first and last trained point to 0 one step outside, for points of this axis that
// lie there as for `side` ghost points at both ends of `dim`, which take the value of the end point; where ends are
// held, they keep all of it. The ghost points of a periodic axis are the points at its other end.
torch::Tensor with_ghosts(const torch::Tensor& image, std::int64_t dim, std::int64_t side, const AxisLayout& axis) {
  const auto fade = [&](double place) {
    if (axis.held) return 1.0;
    return std::clamp(place + 1, 0.0, 1.0) * std::clamp(static_cast<double>(axis.trained) - place, 0.0, 1.0);
  };
  const std::int64_t points = image.size(dim);
  std::vector<double> weights;
  std::vector<std::int64_t> from;
  for (std::int64_t i = -side; i < points + side; ++i) {
    from.push_back(axis.periodic ? wrapped(i, points) : std::clamp<std::int64_t>(i, 0, points - 1));
    weights.push_back(fade(axis.place(static_cast<double>(i))));
  }
  if (axis.periodic) return image.index_select(dim, torch::tensor(from, indices_like(image)));
  std::vector<std::int64_t> along(static_cast<std::size_t>(image.dim()), 1);
  along[static_cast<std::size_t>(dim)] = points + 2 * side;
  return image.index_select(dim, torch::tensor(from, indices_like(image))) *
         torch::tensor(weights, numbers_like(image)).to(image.scalar_type()).view(along);
}

// Means over the patches of an axis by place, [m, n]: patch i of m holds the trained points floor(i n0/m) ..
// ceil((i+1) n0/m) - 1, each reaching half a trained step to both sides; what lies beyond belongs to the end patches,
// or on a periodic axis to those at its other end.
torch::Tensor pool_weights(const AxisLayout& axis, std::int64_t points, std::int64_t patches,
                           const torch::Tensor& like) {
  torch::Tensor weights = torch::zeros({patches, points}, torch::kFloat64);  // CPU: filled here, moved below
  auto at = weights.accessor<double, 2>();
  for (std::int64_t i = 0; i < patches; ++i) {
    const double low = i == 0 && !axis.periodic ? -1e300 : static_cast<double>(i * axis.trained / patches) - 0.5;
    const double high = i + 1 == patches && !axis.periodic
                            ? 1e300
                            : static_cast<double>(((i + 1) * axis.trained + patches - 1) / patches) - 0.5;
    // On a periodic axis the place within one period of the patch's middle.
    const double middle = (std::max(low, -0.5) + std::min(high, static_cast<double>(axis.trained) - 0.5)) / 2;
    const auto place = [&](std::int64_t p) {
      const double s = axis.place(static_cast<double>(p)), n0 = static_cast<double>(axis.trained);
      return axis.periodic ? s - n0 * std::floor((s - middle) / n0 + 0.5 + 1e-6 / n0) : s;
    };
    std::int64_t count = 0, nearest = 0;
    for (std::int64_t p = 0; p < points; ++p) {
      if (place(p) >= low - 1e-6 && place(p) < high - 1e-6) {
        at[i][p] = 1;
        ++count;
      }
      if (std::abs(place(p) - middle) < std::abs(place(nearest) - middle)) nearest = p;
    }
    if (count == 0) at[i][nearest] = 1;  // a mesh coarser than the patches: the point closest to the patch
    for (std::int64_t p = 0; count > 1 && p < points; ++p) at[i][p] /= static_cast<double>(count);
  }
  return weights.to(like.device(), like.scalar_type());
}

// Depthwise along the axes of a mesh, or along the order of clouds of one size: [B,N,W] -> [B,N,W].
torch::Tensor axis_stencil(const torch::Tensor& v, const torch::Tensor& taps, const Shape& mesh,
                           const std::vector<AxisLayout>& axes) {
  // A line (or the order of a cloud) as an image of one row.
  const bool line = taps.dim() == 3;
  torch::Tensor image = line ? to_image(v, {v.size(1)}).unsqueeze(2) : to_image(v, mesh);
  torch::Tensor filter = line ? taps.unsqueeze(2) : taps;
  std::vector<std::int64_t> dilation, padding;
  if (line) {
    dilation.push_back(1);
    padding.push_back(0);
  }
  bool whole = true;
  for (const AxisLayout& axis : axes)
    whole = whole && axis.reach >= 1 && std::abs(axis.reach - std::round(axis.reach)) < 1e-3;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const std::int64_t dim = (line ? 3 : 2) + static_cast<std::int64_t>(a);
    const auto side = static_cast<std::int64_t>(std::ceil(axes[a].reach - 1e-3));
    if (!axes[a].moved && !axes[a].periodic && !axes[a].held) {
      padding.push_back(side);
    } else {
      image = with_ghosts(image, dim, side, axes[a]);
      padding.push_back(0);
    }
    if (whole) {
      dilation.push_back(side);
    } else {
      // Taps between points are shared linearly by the two neighbouring points: the filter of three taps becomes one of
      // 2 ceil(reach) + 1. tensordot moves each treated axis to the end, so all axes end in their own order.
      filter = torch::tensordot(filter, tap_weights(axes[a].reach, filter), {line ? 3 : 2}, {0});
      dilation.push_back(1);
    }
  }
  return from_image(axes.size() == 3 ? torch::conv3d(image, filter, {}, 1, padding, dilation, v.size(2))
                                     : torch::conv2d(image, filter, {}, 1, padding, dilation, v.size(2)));
}

// Over the nearest points in space.
torch::Tensor neighbour_stencil(const torch::Tensor& v, const torch::Tensor& filter, const BatchLayout& layout) {
  const std::int64_t c = v.size(2);
  const torch::Tensor flat = v.reshape({-1, c}), taps = filter.view({c, -1}).t();
  const torch::Tensor read = flat.index_select(0, layout.other) * taps.index_select(0, layout.tap) *
                             layout.weight.to(v.scalar_type()).unsqueeze(1);
  return torch::zeros_like(flat).index_add(0, layout.reader, read).view(v.sizes());
}

// The stencil of a batch, whatever its points are: filter [W,1,3...], v [B,N,W].
torch::Tensor stencil(const torch::Tensor& v, const torch::Tensor& filter, const BatchLayout& layout) {
  if (layout.reader.defined()) return neighbour_stencil(v, filter, layout);
  if (layout.counts.empty()) return axis_stencil(v.contiguous(), filter, layout.mesh, layout.axes);
  std::vector<torch::Tensor> clouds;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layout.counts.size(); ++i) {
    clouds.push_back(axis_stencil(v.narrow(1, first, layout.counts[i]).contiguous(), filter, {}, {layout.clouds[i]}));
    first += layout.counts[i];
  }
  return torch::cat(clouds, 1);
}

// One filter per channel: [W,1,3,3] on a plane, [W,1,3] along a line or the order of a cloud, [W,1,3,3,3] in space.
std::vector<std::int64_t> filter_sizes(const LanoConfig& config, const LanoShape& shape, std::int64_t channels) {
  std::vector<std::int64_t> sizes{channels, 1};
  sizes.insert(sizes.end(), static_cast<std::size_t>(stencil_axes(config, shape)), 3);
  return sizes;
}

}  // namespace

AgentAttention::AgentAttention(const LanoConfig& config, const LanoShape& shape)
    : config_(config),
      patches_(shape.patches.empty() ? Shape{config.agents} : shape.patches),
      used_patches_(patches_),
      periodic_(shape.patches.empty() || shape.periodic.empty() ? std::vector<bool>(patches_.size()) : shape.periodic) {
  const std::int64_t c = config.width;
  qkv_ = register_module("qkv", torch::nn::Linear(torch::nn::LinearOptions(c, 3 * c).bias(false)));
  out_ = register_module("out", torch::nn::Linear(c, c));
  if (config.dwc) dwc_ = register_parameter("dwc", torch::empty(filter_sizes(config, shape, c)));
  if (config.bias != Bias::none) {
    b1_ = register_parameter("bias1", torch::empty({config.agents}));
    b2_ = register_parameter("bias2", torch::empty({config.agents}));
    b3_ = register_parameter("bias3", torch::empty({config.agents}));
    b4_ = register_parameter("bias4", torch::empty({config.agents}));
  }
  if (config.exchange)
    exchange_ = register_parameter("exchange", torch::empty({config.heads * config.agents, config.agents}));
  if (config.agent_tokens == Agents::latent) {
    latent_ = register_parameter("latent", torch::empty({config.agents, c}));
  }
}

torch::Tensor AgentAttention::pool(const torch::Tensor& q, const Shape& mesh, const Axes& axes) const {
  const bool grid = pools_on_grid(config_, patches_, mesh);
  const torch::Tensor image = to_image(q, grid ? mesh : Shape{q.size(1)});
  const auto& to = used_patches_;
  bool moved = false;
  for (const AxisLayout& axis : axes) moved = moved || axis.moved;
  if (grid && moved) {
    // The patches mean the same regions as in training: axis by axis, points are averaged by place.
    torch::Tensor pooled = image;
    for (std::size_t a = 0; a < axes.size(); ++a) {
      pooled =
          torch::tensordot(pooled, pool_weights(axes[a], mesh[a], to[a], q), {2}, {1});  // the axis moves to the end
    }
    return from_image(pooled);
  }
  switch (to.size()) {
    case 1:  // a line as an image of one row: the two-dimensional pool works on channels-last memory without a copy
      return from_image(torch::adaptive_avg_pool2d(image.unsqueeze(2), {1, to[0]}));
    case 2:
      return from_image(torch::adaptive_avg_pool2d(image, {to[0], to[1]}));
    default:
      return from_image(torch::adaptive_avg_pool3d(image, {to[0], to[1], to[2]}));
  }
}

torch::Tensor AgentAttention::interpolate(const torch::Tensor& vector,
                                          const std::vector<std::vector<double>>& places) const {
  torch::Tensor image = vector.view(at::IntArrayRef(patches_));
  for (std::size_t a = 0; a < patches_.size(); ++a) {
    const auto dim = static_cast<std::int64_t>(a);
    const double last = static_cast<double>(patches_[a] - 1);
    std::vector<std::int64_t> low, high;
    std::vector<double> share;
    for (const double place : places[a]) {
      const double t = periodic_[a] ? place : std::clamp(place, 0.0, last), below = std::floor(t);
      low.push_back(wrapped(static_cast<std::int64_t>(below), patches_[a]));
      high.push_back(periodic_[a] ? wrapped(low.back() + 1, patches_[a]) : std::min(low.back() + 1, patches_[a] - 1));
      share.push_back(t - below);
    }
    std::vector<std::int64_t> along(patches_.size(), 1);
    along[a] = static_cast<std::int64_t>(share.size());
    const torch::Tensor weight = torch::tensor(share, numbers_like(vector)).to(vector.scalar_type()).view(along);
    image = torch::lerp(image.index_select(dim, torch::tensor(low, indices_like(vector))),
                        image.index_select(dim, torch::tensor(high, indices_like(vector))), weight);
  }
  return image.flatten();
}

AgentAttention::Places AgentAttention::places_of(std::int64_t points, const Shape& mesh, const Axes& axes) const {
  const bool grid = pools_on_grid(config_, patches_, mesh);
  Places places;
  for (std::size_t a = 0; a < patches_.size(); ++a) {
    const std::int64_t n = grid ? mesh[a] : points;
    const bool moved = grid && axes[a].moved;
    std::vector<double> at_points(static_cast<std::size_t>(n)), at_agents(static_cast<std::size_t>(used_patches_[a]));
    const auto m = static_cast<double>(patches_[a]);
    // t = (n + 1/2) m/N - 1/2; at another resolution n and N are those of the training.
    for (std::size_t i = 0; i < at_points.size(); ++i) {
      at_points[i] =
          moved ? (axes[a].place(static_cast<double>(i)) + 0.5) * m / static_cast<double>(axes[a].trained) - 0.5
                : (static_cast<double>(i) + 0.5) * m / static_cast<double>(n) - 0.5;
    }
    for (std::size_t i = 0; i < at_agents.size(); ++i) {
      at_agents[i] = (static_cast<double>(i) + 0.5) * m / static_cast<double>(at_agents.size()) - 0.5;
    }
    places.points.push_back(std::move(at_points));
    places.agents.push_back(std::move(at_agents));
  }
  return places;
}

std::pair<torch::Tensor, torch::Tensor> AgentAttention::biases(const Places& places) const {
  if (config_.bias == Bias::none) return {};
  const auto agents = [&](const torch::Tensor& vector) {
    return used_patches_ == patches_ ? vector : interpolate(vector, places.agents);
  };
  if (config_.bias == Bias::outer) {
    return {torch::outer(agents(b1_), interpolate(b2_, places.points)),
            torch::outer(interpolate(b3_, places.points), agents(b4_))};
  }
  // Sum: b1 and b3 would be constant along the softmax and change nothing: they are left out, so their gradient is
  // zero.
  return {interpolate(b2_, places.points).unsqueeze(0), agents(b4_).unsqueeze(0)};
}

torch::Tensor AgentAttention::nearness(const Places& places, const torch::Tensor& like) const {
  torch::Tensor squares = torch::zeros({1, 1}, numbers_like(like));  // [points, agents] of the axes so far
  for (std::size_t a = 0; a < patches_.size(); ++a) {
    const auto m = static_cast<double>(patches_[a]);
    torch::Tensor apart = torch::tensor(places.points[a], numbers_like(like)).unsqueeze(1) -
                          torch::tensor(places.agents[a], numbers_like(like)).unsqueeze(0);
    if (periodic_[a]) apart = (m / M_PI) * torch::sin(apart * (M_PI / m));  // the chord
    const torch::Tensor more = apart.square();
    squares = (squares.view({squares.size(0), 1, squares.size(1), 1}) + more.view({1, more.size(0), 1, more.size(1)}))
                  .reshape({squares.size(0) * more.size(0), squares.size(1) * more.size(1)});
  }
  std::vector<double> near;
  for (std::int64_t h = 0; h < config_.heads; ++h) near.push_back(nearness_of_head(h, config_.heads));
  return (-torch::tensor(near, numbers_like(like)).view({config_.heads, 1, 1}) * squares).to(like.scalar_type());
}

torch::Tensor AgentAttention::exchanged(const torch::Tensor& y, const Places& places) const {
  const std::int64_t trained = config_.agents, heads = config_.heads, used = y.size(1);
  const torch::Tensor maps = exchange_.view({heads, trained, trained}), held = y.view({-1, heads, used, y.size(2)});
  if (used_patches_ == patches_) return (held + torch::matmul(maps, held)).view(y.sizes());
  std::vector<torch::Tensor> columns;  // of what interpolates from the trained patches to the agents used
  const torch::Tensor units = torch::eye(trained, y.options().requires_grad(false));
  for (std::int64_t b = 0; b < trained; ++b) columns.push_back(interpolate(units[b], places.agents));
  const torch::Tensor up = torch::stack(columns, 1), sums = up.sum(0);
  const torch::Tensor down = (up / torch::where(sums > 0, sums, torch::ones_like(sums))).t();
  return (held + torch::matmul(up, torch::matmul(maps, torch::matmul(down, held)))).view(y.sizes());
}

// What the points of another mesh than the trained one stand for where agents gather from them, [1, N] as logarithms;
// undefined where each stands for itself.
static torch::Tensor log_cells(const Shape& mesh, const std::vector<AxisLayout>& axes, const torch::Tensor& like) {
  torch::Tensor cells;
  if (std::none_of(axes.begin(), axes.end(), [](const AxisLayout& a) { return a.held && a.moved; })) return cells;
  for (std::size_t a = 0; a < mesh.size(); ++a) {
    std::vector<double> along;
    for (std::int64_t i = 0; i < mesh[a]; ++i) along.push_back(std::log(axes[a].cell(i, mesh[a])));
    const torch::Tensor logs = torch::tensor(along, numbers_like(like));
    cells = cells.defined() ? (cells.unsqueeze(1) + logs).flatten() : logs;
  }
  return cells.to(like.scalar_type()).unsqueeze(0);
}

torch::Tensor AgentAttention::attend(const torch::Tensor& qkv, const Shape& mesh, const Axes& axes) {
  const std::int64_t batch = qkv.size(0), points = qkv.size(1), c = config_.width, heads = config_.heads, d = c / heads;
  const std::int64_t groups = batch * heads, agents = element_count(used_patches_);
  const double scale = 1 / std::sqrt(static_cast<double>(d));
  const torch::Tensor parts = qkv.unflatten(2, {3, heads, d}).permute({2, 0, 3, 1, 4}).contiguous();  // [3,B,H,N,D]
  const torch::Tensor q = parts[0].view({groups, points, d});
  const torch::Tensor k = parts[1].view({groups, points, d});
  const torch::Tensor v = parts[2].view({groups, points, d});
  const torch::Tensor tokens = latent_.defined() ? latent_.unsqueeze(0).expand({batch, agents, c})
                                                 : pool(qkv.narrow(2, 0, c), mesh, axes);  // [B,M,C]
  const torch::Tensor a = split_heads(tokens, heads).reshape({groups, agents, d});

  const Places places = places_of(points, mesh, axes);
  auto [bias1, bias2] = biases(places);
  if (exchange_.defined()) {
    const torch::Tensor near = nearness(places, qkv);
    const auto of_all = [&](const torch::Tensor& bias, const torch::Tensor& heads_near) {
      return (bias.defined() ? heads_near + bias : heads_near).repeat({batch, 1, 1});
    };
    bias1 = of_all(bias1, near.transpose(1, 2));
    bias2 = of_all(bias2, near);
  }
  if (const torch::Tensor cells = log_cells(mesh, axes, qkv); cells.defined())
    bias1 = bias1.defined() ? bias1 + cells : cells;
  const auto logits = [&](const torch::Tensor& bias, const torch::Tensor& left, const torch::Tensor& right) {
    const torch::Tensor transposed = right.transpose(1, 2);
    return bias.defined() ? torch::baddbmm(bias, left, transposed, 1, scale) : torch::bmm(left * scale, transposed);
  };
  torch::Tensor y = torch::bmm(torch::softmax(logits(bias1, a, k), -1), v);  // aggregation, [BH,M,D]
  if (exchange_.defined()) y = exchanged(y, places);
  const torch::Tensor o = torch::bmm(torch::softmax(logits(bias2, q, a), -1), y);  // broadcast, [BH,N,D]
  return o.view({batch, heads, points, d}).transpose(1, 2).reshape({batch, points, c});
}

torch::Tensor AgentAttention::forward(const torch::Tensor& x, const BatchLayout& layout) {
  const torch::Tensor qkv = qkv_(x);  // [B,N,3C]
  // A copy of the values in one piece: on the strided view the convolution is four times slower than the copy costs.
  const auto project = [&](const torch::Tensor& attended) {
    if (!dwc_.defined()) return out_(attended);
    return out_(attended + stencil(qkv.narrow(2, 2 * config_.width, config_.width).contiguous(), dwc_, layout));
  };
  if (layout.counts.empty()) return project(attend(qkv, layout.mesh, layout.axes));
  // Packed clouds: maps of single points see them all at once, attention and stencil one cloud at a time.
  std::vector<torch::Tensor> clouds;
  std::int64_t first = 0;
  for (std::size_t i = 0; i < layout.counts.size(); ++i) {
    clouds.push_back(attend(qkv.narrow(1, first, layout.counts[i]), {}, {layout.clouds[i]}));
    first += layout.counts[i];
  }
  return project(torch::cat(clouds, 1));
}

AgentBlock::AgentBlock(const LanoConfig& config, const LanoShape& shape, std::int64_t number) : number_(number) {
  const std::int64_t c = config.width;
  if (config.ffn_stencil)
    dwc_ = register_parameter("ffn_dwc", torch::empty(filter_sizes(config, shape, config.ffn_ratio * c)));
  norm1_ = register_module("norm1", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c}).eps(1e-5)));
  attention_ = register_module("attention", std::make_shared<AgentAttention>(config, shape));
  norm2_ = register_module("norm2", torch::nn::LayerNorm(torch::nn::LayerNormOptions({c}).eps(1e-5)));
  up_ = register_module("ffn1", torch::nn::Linear(c, config.ffn_ratio * c));
  down_ = register_module("ffn2", torch::nn::Linear(config.ffn_ratio * c, c));
}

// By the masks of the fused engine, so that both train alike.
torch::Tensor AgentBlock::drop(const torch::Tensor& x, const Layout& layout, const kernels::Dropout& dropout,
                               kernels::Branch branch) const {
  if (dropout.rate == 0 || !is_training()) return x;
  const std::int64_t samples = layout.counts.empty() ? x.size(0) : static_cast<std::int64_t>(layout.counts.size()),
                     c = x.size(2);
  torch::Tensor factors = torch::empty(x.sizes(), torch::kFloat32);  // CPU: filled here, moved below
  float* to = factors.data_ptr<float>();
  for (std::int64_t b = 0; b < samples; ++b) {
    const kernels::DropoutMask mask(dropout, b, number_, branch);
    const std::int64_t points = layout.counts.empty() ? x.size(1) : layout.counts[static_cast<std::size_t>(b)];
    for (std::int64_t n = 0; n < points; ++n, to += c) mask.row(n, c, to);
  }
  return x * factors.to(x.options().requires_grad(false));
}

torch::Tensor AgentBlock::forward(torch::Tensor f, const BatchLayout& layout, const kernels::Dropout& dropout) {
  f = f + drop(attention_->forward(norm1_(f), layout), layout, dropout, kernels::Branch::attention);
  torch::Tensor h = up_(norm2_(f));
  if (dwc_.defined()) h = h + stencil(h, dwc_, layout);
  return f + drop(down_(torch::gelu(h)), layout, dropout, kernels::Branch::feed_forward);
}

Lano::Lano(const nlohmann::json& architecture, std::uint64_t seed)
    : Lano(
          [&] {
            std::pair<LanoConfig, LanoShape> read;
            lano_from_json(architecture, read.first, read.second);
            return read;
          }(),
          seed) {}

Lano::Lano(std::pair<LanoConfig, LanoShape> read, std::uint64_t seed)
    : config_(std::move(read.first)), shape_(std::move(read.second)) {
  const std::int64_t c = config_.width;
  encoder1_ = register_module(
      "encoder1", torch::nn::Linear(position_width(config_.position, shape_.dims) + shape_.input_channels, 2 * c));
  encoder2_ = register_module("encoder2", torch::nn::Linear(2 * c, c));
  placeholder_ = register_parameter("placeholder", torch::empty({c}));
  torch::nn::ModuleList blocks;
  for (std::int64_t l = 0; l < config_.layers; ++l) {
    blocks_.push_back(std::make_shared<AgentBlock>(config_, shape_, l));
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
  std::vector<float> values = first_lano_weights(config_, shape_, seed);
  std::int64_t at = 0;
  for (const auto& item : named_parameters()) {
    item.value().copy_(
        torch::from_blob(values.data() + at, item.value().sizes(), torch::kFloat32));  // CPU: copied across
    at += item.value().numel();
  }
}

torch::Tensor Lano::time_features(const Batch& batch) {
  return time2_(torch::silu(time1_(time_waves(shape_, batch.time, config_.width, batch.coordinates.options()))));
}

std::int64_t Lano::use_agents(std::int64_t agents) {
  const std::vector<std::int64_t> patches = patches_for(config_, shape_, agents);
  for (const auto& block : blocks_) block->attention().use_patches(patches);
  return element_count(patches);
}

BatchLayout Lano::layout_of(const Batch& batch) const {
  BatchLayout layout{lano_layout(config_, shape_, batch.coordinates.size(1), batch.mesh, batch.spacing, batch.origin,
                                 batch.counts, batch.stretch),
                     {},
                     {},
                     {},
                     {}};
  if (!reads_neighbours(config_, shape_)) return layout;
  const torch::Tensor x =
      batch.coordinates.detach().to(torch::kCPU, torch::kFloat32).contiguous().view({-1, shape_.dims});
  std::vector<std::int64_t> sizes = batch.counts;
  if (sizes.empty()) sizes.assign(static_cast<std::size_t>(batch.coordinates.size(0)), batch.coordinates.size(1));
  const std::int64_t trained = config_.dwc_spacing == DwcSpacing::physical ? shape_.points : 0;
  std::vector<std::int64_t> reader, other, tap;
  std::vector<double> weight;
  std::int64_t first = 0;
  for (const std::int64_t size : sizes) {
    const kernels::Neighbours near(
        {x.data_ptr<float>() + first * shape_.dims, static_cast<std::size_t>(size * shape_.dims)}, shape_.dims, trained,
        false);
    for (std::int64_t i = 0; i < size; ++i) {
      for (const kernels::Neighbours::Entry& entry : near.of(i)) {
        kernels::for_taps(entry, shape_.dims, [&](std::int64_t at, double share) {
          reader.push_back(first + i);
          other.push_back(first + entry.other);
          tap.push_back(at);
          weight.push_back(share);
        });
      }
    }
    first += size;
  }
  layout.reader = torch::tensor(reader, indices_like(batch.coordinates));
  layout.other = torch::tensor(other, indices_like(batch.coordinates));
  layout.tap = torch::tensor(tap, indices_like(batch.coordinates));
  layout.weight = torch::tensor(weight, numbers_like(batch.coordinates));
  return layout;
}

torch::Tensor Lano::forward(const Batch& batch) {
  torch::Tensor features = position_features(config_.position, shape_, batch.coordinates);
  if (shape_.input_channels > 0) features = torch::cat({features, batch.input}, -1);
  torch::Tensor f = encoder2_(torch::gelu(encoder1_(features))) + placeholder_;
  if (time1_) {
    const torch::Tensor time = time_features(batch);
    if (batch.counts.empty()) {
      f = f + time.unsqueeze(1);
    } else {
      const torch::Tensor counts =
          torch::tensor(batch.counts, time.options().dtype(torch::kInt64).requires_grad(false));
      f = f + torch::repeat_interleave(time, counts, 0).unsqueeze(0);
    }
  }
  const BatchLayout layout = layout_of(batch);
  kernels::Dropout dropout = pass_;
  dropout.rate = config_.dropout;
  for (const auto& block : blocks_) f = block->forward(f, layout, dropout);
  f = norm_(f);
  if (decoder_hidden_) f = torch::gelu(decoder_hidden_(f));
  return decoder_(f);
}

}  // namespace lano
