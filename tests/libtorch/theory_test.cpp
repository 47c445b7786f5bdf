// What the paper's theory says of the layer and the operator, as measurements: reduction to the mean, Monte-Carlo
// convergence, convergence under refinement, and the construction behind universal approximation. Those of a trained
// model: tests/train/trained_theory_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/hilbert.h"
#include "core/random.h"
#include "libtorch/lano.h"

namespace lano::theory_test {
namespace {

constexpr double kPi = std::numbers::pi;

torch::Tensor named(torch::nn::Module& module, const std::string& name) {
  for (auto& item : module.named_parameters()) {
    if (item.key() == name) return item.value();
  }
  throw std::runtime_error("no parameter " + name);
}

LanoConfig layer_config() {
  LanoConfig c;
  c.layers = 1;
  c.heads = 2;
  c.width = 8;
  c.agents = 16;
  c.dwc = false;
  return c;
}

LanoShape cloud_shape() {
  LanoShape shape;
  shape.axes = 0;
  shape.points = 256;
  return shape;
}

BatchLayout cloud_layout() { return {Layout{{}, {AxisLayout{}}, {}, {}}, {}, {}, {}, {}}; }

// Lemma (reduction to the average neural operator): constant feature maps make the layer the mean over the points.
TEST(Theory, ConstantFeatureMapsGiveTheMean) {
  const torch::NoGradGuard no_grad;
  LanoConfig config = layer_config();
  config.bias = Bias::none;
  AgentAttention layer(config, cloud_shape());
  layer.to(torch::kFloat64);
  const torch::Tensor one = torch::eye(8, torch::kFloat64);
  named(layer, "qkv.weight").zero_().narrow(0, 16, 8).copy_(one);  // queries and keys 0, values the features themselves
  named(layer, "out.weight").copy_(one);
  named(layer, "out.bias").zero_();
  const torch::Tensor f = torch::randn({2, 37, 8}, torch::kFloat64);
  const torch::Tensor mean = f.mean(1, true).expand_as(f);
  EXPECT_LT((layer.forward(f, cloud_layout()) - mean).abs().max().item<double>(), 1e-15 * 37);
}

// A smooth feature field on the unit square, [N, 8].
torch::Tensor smooth_features(const std::vector<float>& points) {
  const auto n = static_cast<std::int64_t>(points.size() / 2);
  torch::Tensor f = torch::empty({n, 8}, torch::kFloat64);
  auto at = f.accessor<double, 2>();
  for (std::int64_t p = 0; p < n; ++p) {
    const double x = points[static_cast<std::size_t>(2 * p)], y = points[static_cast<std::size_t>(2 * p + 1)];
    for (std::int64_t c = 0; c < 8; ++c)
      at[p][c] = std::sin(kPi * (x * static_cast<double>(c + 1) / 3 + y) + static_cast<double>(c));
  }
  return f;
}

// Values of the layer at eight fixed query points, which are added to the points of the sum.
torch::Tensor at_queries(AgentAttention& layer, std::vector<float> points) {
  const torch::NoGradGuard no_grad;
  std::vector<float> queries;
  for (int q = 0; q < 8; ++q)
    queries.insert(queries.end(), {0.0625f + 0.125f * static_cast<float>(q), 0.9f - 0.1f * static_cast<float>(q)});
  points.insert(points.begin(), queries.begin(), queries.end());
  const std::vector<double> box{0, 1, 0, 1};
  const auto order = hilbert_order(points, 2, {}, 0, box);
  std::vector<float> sorted;
  std::vector<std::int64_t> place(8);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto p = static_cast<std::size_t>(order[i]);
    sorted.insert(sorted.end(), {points[2 * p], points[2 * p + 1]});
    if (p < 8) place[p] = static_cast<std::int64_t>(i);
  }
  const torch::Tensor out = layer.forward(smooth_features(sorted).unsqueeze(0), cloud_layout())[0];
  return out.index_select(0, torch::tensor(place, torch::kInt64));
}

// Theorem (Monte-Carlo sum): on N random points the layer converges to its integral at rate N^-1/2.
TEST(Theory, RandomPointsConvergeAtTheMonteCarloRate) {
  torch::manual_seed(3);
  AgentAttention layer(layer_config(), cloud_shape());
  layer.to(torch::kFloat64);
  {
    const torch::NoGradGuard no_grad;
    for (auto& p : layer.parameters()) p.copy_(0.7 * torch::randn_like(p));
  }
  std::vector<float> fine;
  constexpr int kSide = 512;
  for (int i = 0; i < kSide; ++i) {
    for (int j = 0; j < kSide; ++j)
      fine.insert(fine.end(), {(static_cast<float>(i) + 0.5f) / kSide, (static_cast<float>(j) + 0.5f) / kSide});
  }
  const torch::Tensor reference = at_queries(layer, fine);
  std::vector<double> log_n, log_error;
  for (int power = 8; power <= 14; ++power) {
    constexpr int kDraws = 24;
    double squares = 0;
    for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
      RandomStream stream(17, Purpose::test, static_cast<std::uint64_t>(power), draw);
      std::vector<float> points(2ull << power);
      for (float& x : points) x = static_cast<float>(stream.uniform());
      squares += (at_queries(layer, points) - reference).pow(2).mean().item<double>() / kDraws;
    }
    log_n.push_back(power * std::log(2.0));
    log_error.push_back(0.5 * std::log(squares));
  }
  double sx = 0, sy = 0, sxx = 0, sxy = 0;
  const auto n = static_cast<double>(log_n.size());
  for (std::size_t i = 0; i < log_n.size(); ++i) {
    sx += log_n[i];
    sy += log_error[i];
    sxx += log_n[i] * log_n[i];
    sxy += log_n[i] * log_error[i];
  }
  const double slope = (n * sxy - sx * sy) / (n * sxx - sx * sx);
  RecordProperty("slope", std::to_string(slope));
  EXPECT_NEAR(slope, -0.5, 0.1);
}

// Discretisation convergence of the whole operator: a smooth input on finer and finer grids of the same domain.
TEST(Theory, PredictionsConvergeAsAGridIsRefined) {
  const torch::NoGradGuard no_grad;
  LanoConfig config;
  config.layers = 2;
  config.heads = 2;
  config.width = 16;
  config.agents = 16;
  SetDescription set;
  set.shape = {17, 17};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  const auto model = make_model(to_json(config, lano_shape(config, set, {1.0 / 16, 1.0 / 16})), 1);
  model->to(torch::kFloat64);
  torch::manual_seed(9);
  for (auto& p : model->parameters()) p.copy_(0.3 * torch::randn_like(p));
  // The prediction at the 17 x 17 common points, for several fields.
  constexpr std::int64_t kFields = 6;
  const auto predict = [&](std::int64_t n) {
    Batch batch;
    batch.coordinates = torch::empty({kFields, n * n, 2}, torch::kFloat64);
    batch.input = torch::empty({kFields, n * n, 1}, torch::kFloat64);
    auto x = batch.coordinates.accessor<double, 3>();
    auto a = batch.input.accessor<double, 3>();
    for (std::int64_t s = 0; s < kFields; ++s) {
      for (std::int64_t p = 0; p < n * n; ++p) {
        x[s][p][0] = static_cast<double>(p / n) / static_cast<double>(n - 1);
        x[s][p][1] = static_cast<double>(p % n) / static_cast<double>(n - 1);
        a[s][p][0] = std::sin(kPi * (static_cast<double>(s + 1) / 2 * x[s][p][0] + x[s][p][1])) +
                     0.3 * std::cos(2 * kPi * x[s][p][1] * static_cast<double>(s));
      }
    }
    batch.mesh = {n, n};
    batch.spacing = {1.0 / static_cast<double>(n - 1), 1.0 / static_cast<double>(n - 1)};
    const std::int64_t stride = (n - 1) / 16;
    return model->forward(batch).view({kFields, n, n}).slice(1, 0, n, stride).slice(2, 0, n, stride).contiguous();
  };
  std::vector<torch::Tensor> levels;
  for (const std::int64_t n : {17, 33, 65, 129}) levels.push_back(predict(n));
  std::vector<double> mean,
      worst;  // of ||u_h - u_h/2|| / ||u_h/2|| over the fields: average, and the paper's uniform risk
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    const torch::Tensor change =
        (levels[l] - levels[l + 1]).flatten(1).norm(2, 1) / levels[l + 1].flatten(1).norm(2, 1);
    mean.push_back(change.mean().item<double>());
    worst.push_back(change.max().item<double>());
    RecordProperty("uniform_risk_" + std::to_string(l), std::to_string(worst.back()));
    std::printf("refinement %zu: mean change %.3e, worst sample %.3e\n", l, mean.back(), worst.back());
  }
  EXPECT_LT(mean[1], mean[0]);
  EXPECT_LT(mean[2], mean[1]);
  EXPECT_LT(worst[1], worst[0]);
  EXPECT_LT(worst[2], worst[1]);
  EXPECT_GE(std::log2(mean[1] / mean[2]), 0.8);
}

// With bias = sum, b1 and b3 are constant along the softmax they enter, and LANO leaves them out. The layer as the
// paper prints it, with all four vectors in the logits, gives the same up to rounding. (That their gradient is exactly
// zero is checked with the other gradients.)
TEST(Theory, ConstantsAlongASoftmaxChangeNothing) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(5);
  LanoConfig config = layer_config();
  config.bias = Bias::sum;
  AgentAttention layer(config, cloud_shape());
  layer.to(torch::kFloat64);
  for (auto& p : layer.parameters()) p.copy_(torch::randn_like(p));
  for (const char* name : {"bias1", "bias3"}) named(layer, name).mul_(10);
  constexpr std::int64_t kPoints = 48, kAgents = 16, kHead = 4;  // three points per bin
  const torch::Tensor f = torch::randn({1, kPoints, 8}, torch::kFloat64);
  // The point side of a vector: at t = (n + 1/2) M/N - 1/2 within the vector.
  const auto up = [&](const torch::Tensor& vector) {
    torch::Tensor at = torch::empty({kPoints}, torch::kFloat64);
    for (std::int64_t n = 0; n < kPoints; ++n) {
      const double t = std::clamp((static_cast<double>(n) + 0.5) * kAgents / kPoints - 0.5, 0.0, kAgents - 1.0);
      const auto low = std::min(static_cast<std::int64_t>(t), kAgents - 2);
      const double share = t - static_cast<double>(low);
      at[n] = (1 - share) * vector[low].item<double>() + share * vector[low + 1].item<double>();
    }
    return at;
  };
  const auto printed = [&] {
    const torch::Tensor qkv = torch::matmul(f[0], named(layer, "qkv.weight").t());  // [N, 3C]
    std::vector<torch::Tensor> heads;
    for (const std::int64_t head : {0, 1}) {
      const auto part = [&](std::int64_t which) { return qkv.narrow(1, 8 * which + kHead * head, kHead); };
      const torch::Tensor a = part(0).reshape({kAgents, kPoints / kAgents, kHead}).mean(1);
      const torch::Tensor read = torch::matmul(a, part(1).t()) / 2 + named(layer, "bias1").unsqueeze(1) +
                                 up(named(layer, "bias2")).unsqueeze(0);
      const torch::Tensor told = torch::matmul(part(0), a.t()) / 2 + up(named(layer, "bias3")).unsqueeze(1) +
                                 named(layer, "bias4").unsqueeze(0);
      heads.push_back(torch::softmax(told, -1).matmul(torch::softmax(read, -1)).matmul(part(2)));
    }
    return torch::matmul(torch::cat(heads, 1), named(layer, "out.weight").t()) + named(layer, "out.bias");
  };
  const torch::Tensor ours = layer.forward(f, cloud_layout())[0];
  EXPECT_LT((ours - printed()).abs().max().item<double>(), 1e-13 * ours.abs().max().item<double>());
  // The other two do something.
  named(layer, "bias4").add_(torch::arange(kAgents, torch::kFloat64));
  EXPECT_GT((ours - layer.forward(f, cloud_layout())[0]).abs().max().item<double>(), 1e-3);
}

// The abstract's "improved conditioning and stability" has no statement in the text. What holds: both softmaxes are
// averages, so whatever the weights and the number of points, what attention gives lies between the least and the
// largest value of each channel: its gain in the maximum norm is one, and constants pass unchanged.
TEST(Theory, AttentionIsAnAverageOfTheValuesWhateverTheWeights) {
  const torch::NoGradGuard no_grad;
  torch::manual_seed(6);
  for (const Bias bias : {Bias::outer, Bias::sum}) {
    LanoConfig config = layer_config();
    config.bias = bias;
    AgentAttention layer(config, cloud_shape());
    layer.to(torch::kFloat64);
    const torch::Tensor one = torch::eye(8, torch::kFloat64);
    for (const std::int64_t points : {7, 300, 5000}) {
      for (auto& p : layer.parameters()) p.copy_(6 * torch::randn_like(p));
      named(layer, "out.weight").copy_(one);
      named(layer, "out.bias").zero_();
      torch::Tensor values = named(layer, "qkv.weight").narrow(0, 16, 8);
      const torch::Tensor f = torch::randn({1, points, 8}, torch::kFloat64);
      const torch::Tensor v = torch::matmul(f[0], values.t()), o = layer.forward(f, cloud_layout())[0];
      const torch::Tensor low = std::get<0>(v.min(0)), high = std::get<0>(v.max(0)), rounding = 1e-13 * (high - low);
      EXPECT_TRUE((o >= low - rounding).all().item<bool>()) << points;
      EXPECT_TRUE((o <= high + rounding).all().item<bool>()) << points;
      // Values that are the same everywhere: the first feature is, and they read nothing else.
      values.zero_().select(1, 0).fill_(2);
      torch::Tensor flat = f.clone();
      flat.select(2, 0).fill_(3);
      EXPECT_LT((layer.forward(flat, cloud_layout()) - 6).abs().max().item<double>(), 1e-13) << points;
    }
  }
}

// Small cases of Lemmas A2 and A3: weights set by hand make a LANO the operator a -> (mean of a^2) x (1-x).
//
// GELU gives exact linear maps, g(z) - g(-z) = z, and squares, g(z) + g(-z) = z erf(z/sqrt 2) = sqrt(2/pi) z^2 (1 -
// z^2/6 + ...), so with z = e q a relative error of (e q)^2/6. Products come from squares. LayerNorm is tamed by a
// large constant pattern: f = K s + d with s = +-1 of zero mean, and each quantity q stored as a pair (+q, -q) of
// channels where s is the same, so that d is orthogonal to 1 and to s; then K LN(f) = K s + d up to a relative |d|^2 /
// (2 C K^2).
TEST(Theory, HandSetWeightsMultiplyAFunctionalWithAProfile) {
  const torch::NoGradGuard no_grad;
  constexpr double kLarge = 1e4, kSmall = 1e-3;
  const double square_gain = 1 / (std::sqrt(2 / kPi) * kSmall * kSmall);
  LanoConfig config;
  config.layers = 1;
  config.heads = 1;
  config.width = 16;
  config.agents = 4;
  config.bias = Bias::none;
  config.dwc = false;
  SetDescription set;
  set.shape = {64};
  set.coordinates = {{"x", "1"}};
  set.input = {{"a", "1"}};
  set.output = {{"u", "1"}};
  const auto model = make_model(to_json(config, lano_shape(config, set)), 1);
  model->to(torch::kFloat64);
  for (auto& item : model->named_parameters()) {
    if (item.key().find("norm") == std::string::npos) item.value().zero_();
  }
  // Quantities: 0 = a^2, 1 = x (1-x), 2 = mean of a^2, 3 = the product. Quantity q lives in channels 2q and 2q+1.
  const auto write = [&](torch::Tensor weight, std::int64_t quantity, std::int64_t from, double gain) {
    weight[2 * quantity][from] += gain;
    weight[2 * quantity + 1][from] -= gain;
  };
  const auto read = [&](torch::Tensor weight, std::int64_t to, std::int64_t quantity, double gain) {
    weight[to][2 * quantity] += gain * kLarge / 2;
    weight[to][2 * quantity + 1] -= gain * kLarge / 2;
  };
  // Encoder, input [x, a]: units 0, 1 carry +-e a, units 2, 3 carry +-e x, units 4, 5 carry +-x.
  torch::Tensor up = named(*model, "encoder1.weight");
  torch::Tensor down = named(*model, "encoder2.weight");
  for (const auto& [unit, input, gain] : {std::tuple(0, 1, kSmall), std::tuple(2, 0, kSmall), std::tuple(4, 0, 1.0)}) {
    up[unit][input] = gain;
    up[unit + 1][input] = -gain;
  }
  for (const std::int64_t unit : {0, 1}) write(down, 0, unit, square_gain);
  for (const std::int64_t unit : {2, 3}) write(down, 1, unit, -square_gain);
  write(down, 1, 4, 1);
  write(down, 1, 5, -1);
  torch::Tensor pattern = named(*model, "placeholder");
  for (std::int64_t c = 0; c < 16; ++c) pattern[c] = c < 8 ? kLarge : -kLarge;
  // Attention: constant feature maps average; the value of channel 0 is a^2, written to quantity 2.
  torch::Tensor qkv = named(*model, "blocks.0.attention.qkv.weight");
  read(qkv, 2 * 16 + 0, 0, 1);
  write(named(*model, "blocks.0.attention.out.weight"), 2, 0, 1);
  // FFN: p q = ((p+q)^2 - (p-q)^2) / 4.
  torch::Tensor ffn1 = named(*model, "blocks.0.ffn1.weight");
  torch::Tensor ffn2 = named(*model, "blocks.0.ffn2.weight");
  for (std::int64_t unit = 0; unit < 4; ++unit) {
    const double sign = unit % 2 == 0 ? kSmall : -kSmall;
    read(ffn1, unit, 1, sign);
    read(ffn1, unit, 2, unit < 2 ? sign : -sign);
    write(ffn2, 3, unit, (unit < 2 ? 1 : -1) * square_gain / 4);
  }
  read(named(*model, "decoder.weight"), 0, 3, 1);

  Batch batch;
  batch.mesh = {64};
  batch.coordinates = torch::linspace(0, 1, 64, torch::kFloat64).view({1, 64, 1}).repeat({3, 1, 1});
  batch.input =
      torch::cat({torch::sin(3 * batch.coordinates[0]), 1 + batch.coordinates[1], torch::cos(9 * batch.coordinates[2])},
                 1)
          .t()
          .unsqueeze(-1)
          .contiguous();
  const torch::Tensor x = batch.coordinates;
  const torch::Tensor expected = batch.input.pow(2).mean(1, true) * x * (1 - x);
  const torch::Tensor error = (model->forward(batch) - expected).abs().max() / expected.abs().max();
  RecordProperty("relative_error", std::to_string(error.item<double>()));
  // The squares' own error, largest for a = 1 + x: a^2 <= 4 is off by at most (2e)^2/6 = 6.7e-7 of itself; the product
  // p q with p = 7/3, q = 1/4 by ((p+q)^4 - (p-q)^4) e^2/24 = 1.1e-6, relative to p q = 0.583: 1.8e-6. Together 2.5e-6.
  EXPECT_LT(error.item<double>(), 2.6e-6);
}

}  // namespace
}  // namespace lano::theory_test
