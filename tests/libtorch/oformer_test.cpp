#include "libtorch/baseline_cases.h"
#include "libtorch/rotary.h"
#include "scratch.h"

namespace lano::oformer_test {
namespace {

using namespace test;

TEST(Rotary, ProductsDependOnDifferencesOfPositionsAlone) {
  for (const auto& [dims, channels] : {std::pair(1, 6), std::pair(2, 8), std::pair(2, 10), std::pair(3, 16)}) {
    torch::manual_seed(2);
    const torch::Tensor q = torch::randn({2, 3, 5, channels}, torch::kFloat64),
                        k = torch::randn({2, 3, 5, channels}, torch::kFloat64);
    const torch::Tensor x = torch::rand({2, 5, dims}, torch::kFloat64),
                        shift = torch::rand({2, 1, dims}, torch::kFloat64);
    const auto products = [&](const torch::Tensor& qs, const torch::Tensor& ks) {
      return torch::matmul(rotate_pairs(q, rotary_angles(qs, channels, 3)),
                           rotate_pairs(k, rotary_angles(ks, channels, 3)).transpose(2, 3));
    };
    const torch::Tensor base = products(x, x);
    EXPECT_LT(largest_difference(products(x + shift, x + shift), base), 1e-12);
    EXPECT_GT(largest_difference(products(x + shift, x), base), 1e-2);
    const torch::Tensor turned = rotate_pairs(q, rotary_angles(x, channels, 3));
    EXPECT_LT(largest_difference(turned.norm(2, -1), q.norm(2, -1)), 1e-13);
    EXPECT_TRUE(torch::equal(rotate_pairs(q, rotary_angles(torch::zeros_like(x), channels, 3)), q));
    // Every axis rotates its own channels.
    for (std::int64_t a = 0; a < dims; ++a) {
      torch::Tensor moved = x.clone();
      moved.select(2, a).add_(0.3);
      const torch::Tensor change = (rotate_pairs(q, rotary_angles(moved, channels, 3)) - turned).abs().amax({0, 1, 2});
      EXPECT_EQ((change > 0).sum().item<std::int64_t>(), 2 * (channels / (2 * dims)));
    }
  }
}

// Linear attention as the N x N kernel it stands for, in differences of angles: (qa ka + qb kb) cos d + (qa kb - qb ka)
// sin d a pair.
torch::Tensor kernel_attention(const ByHand& hand, const std::string& at, const torch::Tensor& x,
                               const torch::Tensor& z, const torch::Tensor& coordinates, LinearAttentionKind kind) {
  const std::int64_t n = z.size(1);
  std::vector<torch::Tensor> heads;
  for (std::int64_t h = 0; h < 2; ++h) {
    torch::Tensor q = ByHand::head(hand.linear(x, at + "q"), h, 2), v = ByHand::head(hand.linear(z, at + "v"), h, 2);
    const torch::Tensor k = ByHand::normed(ByHand::head(hand.linear(z, at + "k"), h, 2));
    (kind == LinearAttentionKind::galerkin ? v : q) = ByHand::normed(kind == LinearAttentionKind::galerkin ? v : q);
    torch::Tensor kernel = torch::zeros({x.size(0), n, n}, torch::kFloat64);
    const auto outer = [&](std::int64_t i, std::int64_t j) {
      return q.select(2, i).unsqueeze(2) * k.select(2, j).unsqueeze(1);
    };
    // Six channels: a pair for each of the two axes at 64 radians per unit, and a pair that is not turned.
    for (std::int64_t pair = 0; pair < 3; ++pair) {
      torch::Tensor d = torch::zeros_like(kernel);
      if (pair < 2) d = 64 * (coordinates.select(2, pair).unsqueeze(2) - coordinates.select(2, pair).unsqueeze(1));
      const std::int64_t a = 2 * pair, b = 2 * pair + 1;
      kernel = kernel + (outer(a, a) + outer(b, b)) * torch::cos(d) + (outer(a, b) - outer(b, a)) * torch::sin(d);
    }
    heads.push_back(torch::matmul(kernel, v) / static_cast<double>(n));
  }
  return hand.linear(torch::cat(heads, -1), at + "out");
}

torch::Tensor gated(const ByHand& hand, const std::string& at, const torch::Tensor& x) {
  const torch::Tensor both = hand.linear(x, at + "linear1");
  return hand.linear(torch::gelu(both.narrow(2, 0, 24)) * both.narrow(2, 24, 24), at + "linear2");
}

TEST(OFormer, AgreesWithItsEquations) {
  for (const auto kind : {LinearAttentionKind::galerkin, LinearAttentionKind::fourier}) {
    BaselineConfig config = small_config("oformer", 1);
    config.attention = kind;
    const LanoShape shape = on_cloud(7);
    const auto model = double_model(config, shape);
    const Batch batch = batch_of(shape, 2);
    const ByHand hand(*model);
    const torch::Tensor& x = batch.coordinates;
    torch::Tensor z = hand.norm(hand.encoder(batch), "blocks.0.norm1");
    z = hand.norm(z + kernel_attention(hand, "blocks.0.attention.", z, z, x, kind), "blocks.0.norm2");
    z = z + gated(hand, "blocks.0.ffn.", z);
    const torch::Tensor phase = 2 * M_PI * torch::matmul(x, hand["waves"]);
    torch::Tensor q = hand.mlp(torch::cat({torch::sin(phase), torch::cos(phase)}, -1), "query1", "query2");
    q = q + kernel_attention(hand, "cross.", q, z, x, kind);
    q = q + gated(hand, "ffn.", q);
    q = q + hand.linear(torch::gelu(hand.mlp(torch::cat({hand.norm(q, "norm1"), x}, -1), "step1", "step2")), "step3");
    const torch::Tensor expected =
        hand.linear(torch::gelu(hand.mlp(hand.norm(q, "norm2"), "decoder1", "decoder2")), "decoder3");
    EXPECT_LT(largest_difference(model->forward(batch).detach(), expected),
              1e-10 * (1 + expected.abs().max().item<double>()));
  }
}

TEST(OFormer, FrequenciesAreDrawnFromTheSeedAndKept) {
  const auto waves = [](std::uint64_t seed) {
    return make_model(to_json(small_config("oformer"), on_cloud(7)), seed)->named_buffers()["waves"];
  };
  EXPECT_TRUE(torch::equal(waves(3), waves(3)));
  EXPECT_FALSE(torch::equal(waves(3), waves(4)));
}

// Angles and waves are those of the box of the training points. The encoder, which takes coordinates as they are, is
// made blind to them.
TEST(OFormer, TakesPointsByTheirPlaceInTheBox) {
  const torch::NoGradGuard no_grad;
  LanoShape shape = on_cloud(7);
  const auto answer = [&](const std::vector<double>& box, double scale, double x, double y) {
    shape.reference_box = box;
    const auto model = double_model(small_config("oformer"), shape);
    model->named_parameters()["encoder1.weight"].narrow(1, 0, 2).zero_();
    Batch batch = batch_of(shape, 2);
    batch.coordinates = scale * batch.coordinates + torch::tensor({x, y}, torch::kFloat64);
    return model->forward(batch);
  };
  const torch::Tensor plain = answer({}, 1, 0, 0);
  const double size = plain.abs().max().item<double>();
  EXPECT_TRUE(torch::equal(answer({0, 1, 0, 1}, 1, 0, 0), plain));
  EXPECT_LT(largest_difference(answer({-39, 1, 3, 43}, 40, -39, 3), plain), 1e-10 * (1 + size));
  EXPECT_GT(largest_difference(answer({}, 40, -39, 3), plain), 1e-3 * size);
  EXPECT_TRUE(torch::isfinite(answer({0, 1, 3, 3}, 1, 0, 3)).all().item<bool>());
}

TEST(OFormer, HeadsTooNarrowForTheCoordinatesAreRefused) {
  BaselineConfig config = small_config("oformer");
  config.heads = 4;
  EXPECT_ERROR_WITH(make_model(to_json(config, on_cloud(7)), 1),
                    "expected heads of at least 4 channels, two per coordinate, found 3;");
}

TEST(OFormer, ParameterCounts) {
  constexpr std::int64_t c = 128, gated = c * 4 * c + 4 * c + 2 * c * c + c, attention = 4 * c * c + c;
  constexpr std::int64_t encoder = 3 * 2 * c + 2 * c + 2 * c * c + c, block = 4 * c + attention + gated;
  constexpr std::int64_t decoder =
      2 * c * c + attention + gated + 2 * c + (c + 2) * c + 2 * c * c + 2 * c + c * c / 2 + c * c / 4 + c / 2 + 1;
  constexpr std::int64_t expected = encoder + 8 * block + decoder;
  EXPECT_EQ(standard_count("oformer", on_mesh({85, 85})), expected);
  EXPECT_EQ(standard_count("oformer", on_cloud(972)), expected);
}

}  // namespace
}  // namespace lano::oformer_test
