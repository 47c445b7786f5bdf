// The whole network without LibTorch: gradients against finite differences, every instruction set against the plain
// twin, any thread count the same bits. Against other truths it is tested in tests/libtorch. Runs under asan.
#include "kernels/network.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>

#include "core/random.h"
#include "scratch.h"

namespace lano::kernels {
namespace {

using Index = std::int64_t;

struct Setting {
  std::string name;
  LanoConfig config;
  Shape mesh;                  // empty: clouds of `points`
  std::vector<Index> points;   // of each sample
  std::vector<Index> patches;  // as trained
  Index inputs = 3, outputs = 2;
  bool time = false;
  std::vector<bool> periodic{};  // axes of the mesh
};

void PrintTo(const Setting& s, std::ostream* out) { *out << s.name; }

LanoConfig small(Index width, Index heads, Index agents) {
  LanoConfig c;
  c.layers = 2;
  c.width = width;
  c.heads = heads;
  c.agents = agents;
  return c;
}

std::vector<Setting> settings() {
  std::vector<Setting> all{{"plane", small(12, 2, 6), {11, 13}, {143, 143}, {3, 2}},
                           {"vectors", small(32, 2, 16), {17, 16}, {272}, {4, 4}},
                           {"clouds", small(20, 4, 5), {}, {130, 1, 7, 311}, {5}, 2, 1, true},
                           {"space", small(8, 1, 8), {5, 4, 6}, {120}, {2, 2, 2}},
                           {"line", small(16, 2, 3), {301}, {301}, {3}}};
  Setting s{"others", small(12, 3, 6), {9, 10}, {90, 90}, {6}, 3, 2, true};
  s.config.bias = Bias::sum;
  s.config.pool = Pool::sequence;
  s.config.decoder = Decoder::mlp;
  all.push_back(s);
  all.push_back({"torus", small(12, 2, 6), {11, 13}, {143, 143}, {3, 2}, 3, 2, false, {true, true}});
  all.push_back({"cylinder", small(8, 1, 8), {5, 4, 6}, {120}, {2, 2, 2}, 3, 2, false, {false, true, false}});
  all.push_back({"ring", small(16, 2, 3), {301}, {301}, {3}, 3, 2, false, {true}});
  s.name = "latent";
  s.config.bias = Bias::none;
  s.config.agent_tokens = Agents::latent;
  s.config.dwc = false;
  all.push_back(s);
  return all;
}

// Weights, input and geometry of a setting, all random.
class Case {
 public:
  explicit Case(const Setting& s) : setting(s) {
    const LanoConfig& c = s.config;
    for (const Index n : s.points) {
      std::vector<AxisLayout> axes(std::max<std::size_t>(1, s.mesh.size()));
      for (std::size_t a = 0; a < s.periodic.size(); ++a) axes[a].periodic = s.periodic[a];
      geometries.push_back(make_geometry(c, s.patches, s.patches, n, s.mesh, axes));
    }
    for (const Geometry& g : geometries) {
      samples.push_back({total, &g});
      total += g.points;
    }
    shape.heads = c.heads;
    shape.width = c.width;
    shape.feed_forward = c.ffn_ratio * c.width;
    shape.agents = c.agents;
    shape.inputs = s.inputs;
    shape.outputs = s.outputs;
    shape.bias = c.bias;
    if (c.dwc) {
      shape.taps = 1;
      for (std::size_t a = 0; a < std::max<std::size_t>(1, s.mesh.size()); ++a) shape.taps *= 3;
    }
    const Index w = c.width, f = shape.feed_forward;
    weights.blocks.resize(static_cast<std::size_t>(c.layers));
    gradients.blocks.resize(static_cast<std::size_t>(c.layers));
    add(weights.encoder1, gradients.encoder1, 2 * w * s.inputs);
    add(weights.encoder1_bias, gradients.encoder1_bias, 2 * w);
    add(weights.encoder2, gradients.encoder2, 2 * w * w);
    add(weights.encoder2_bias, gradients.encoder2_bias, w);
    add(weights.placeholder, gradients.placeholder, w);
    for (std::size_t l = 0; l < weights.blocks.size(); ++l) {
      auto& b = weights.blocks[l];
      auto& g = gradients.blocks[l];
      add(b.norm1_gain, g.norm1_gain, w);
      add(b.norm1_shift, g.norm1_shift, w);
      add(b.qkv, g.qkv, 3 * w * w);
      if (c.dwc) add(b.dwc, g.dwc, w * shape.taps);
      if (c.bias != Bias::none) {
        add(b.bias1, g.bias1, c.agents);
        add(b.bias2, g.bias2, c.agents);
        add(b.bias3, g.bias3, c.agents);
        add(b.bias4, g.bias4, c.agents);
      }
      if (c.agent_tokens == Agents::latent) add(b.latent, g.latent, c.agents * w);
      add(b.out, g.out, w * w);
      add(b.out_bias, g.out_bias, w);
      add(b.norm2_gain, g.norm2_gain, w);
      add(b.norm2_shift, g.norm2_shift, w);
      add(b.ffn1, g.ffn1, f * w);
      add(b.ffn1_bias, g.ffn1_bias, f);
      add(b.ffn2, g.ffn2, f * w);
      add(b.ffn2_bias, g.ffn2_bias, w);
    }
    add(weights.norm_gain, gradients.norm_gain, w);
    add(weights.norm_shift, gradients.norm_shift, w);
    if (c.decoder == Decoder::mlp) {
      add(weights.hidden, gradients.hidden, w * w);
      add(weights.hidden_bias, gradients.hidden_bias, w);
    }
    add(weights.decoder, gradients.decoder, s.outputs * w);
    add(weights.decoder_bias, gradients.decoder_bias, s.outputs);
    input = random(total * s.inputs, 1);
    time = random(s.time ? static_cast<Index>(samples.size()) * w : 0, 1);
    probe = random(total * s.outputs, 1);
    dinput.resize(input.size());
    dtime.resize(time.size());
  }

  std::vector<float> predict(const Kernels& k) const {
    std::vector<float> output(probe.size());
    Network(shape, weights, false, k)
        .predict(samples, input.data(), time.empty() ? nullptr : time.data(), output.data());
    return output;
  }
  double value(const Kernels& k) const {
    const std::vector<float> output = predict(k);
    double sum = 0;
    for (std::size_t i = 0; i < output.size(); ++i) sum += static_cast<double>(output[i]) * probe[i];
    return sum;
  }
  std::vector<float> record_and_go_back(const Kernels& k) {
    std::vector<float> output(probe.size());
    const float* const at = time.empty() ? nullptr : time.data();
    const Network network(shape, weights, true, k);
    const auto tape = network.record(samples, input.data(), at, output.data());
    network.backward(*tape, input.data(), probe.data(), gradients, dinput.data(),
                     time.empty() ? nullptr : dtime.data());
    return output;
  }

  // Every array that has a gradient, with it.
  struct Pair {
    std::vector<float>* values;
    std::vector<float>* slopes;
  };
  std::vector<Pair> pairs() {
    std::vector<Pair> all{{&input, &dinput}};
    if (!time.empty()) all.push_back({&time, &dtime});
    for (std::size_t i = 0; i < values_.size(); ++i) all.push_back({values_[i].get(), slopes_[i].get()});
    return all;
  }

  Setting setting;
  NetworkShape shape;
  Weights weights;
  Gradients gradients;
  std::vector<Geometry> geometries;
  std::vector<Sample> samples;
  Index total = 0;
  std::vector<float> input, time, probe, dinput, dtime;

 private:
  static std::vector<float> random(Index size, double scale) {
    static std::uint64_t next = 0;
    RandomStream stream(11, Purpose::shuffle, next++);
    std::vector<float> values(static_cast<std::size_t>(size));
    for (float& value : values) value = static_cast<float>(scale * stream.normal());
    return values;
  }
  void add(const float*& weight, float*& gradient, Index size) {
    values_.push_back(std::make_unique<std::vector<float>>(random(size, 0.4)));
    slopes_.push_back(std::make_unique<std::vector<float>>(static_cast<std::size_t>(size)));
    weight = values_.back()->data();
    gradient = slopes_.back()->data();
  }
  std::vector<std::unique_ptr<std::vector<float>>> values_, slopes_;
};

class Networks : public testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(All, Networks, testing::ValuesIn(settings()),
                         [](const testing::TestParamInfo<Setting>& each) { return each.param.name; });

double norm(const std::vector<float>& x) {
  double sum = 0;
  for (const float value : x) sum += static_cast<double>(value) * value;
  return std::sqrt(sum);
}

double distance(const std::vector<float>& x, const std::vector<float>& y) {
  double apart = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    apart += (static_cast<double>(x[i]) - y[i]) * (static_cast<double>(x[i]) - y[i]);
  return std::sqrt(apart) / (norm(y) + 1e-30);
}

TEST_P(Networks, EveryInstructionSetGivesTheSame) {
  Case c(GetParam());
  const std::vector<float> plain = c.predict(kernels(Simd::plain));
  const std::vector<float> plain_recorded = c.record_and_go_back(kernels(Simd::plain));
  EXPECT_LT(distance(plain_recorded, plain), 1e-5);  // fails for NaN, too
  std::vector<std::vector<float>> slopes;
  double largest = 0;
  for (const auto& pair : c.pairs()) {
    slopes.push_back(*pair.slopes);
    largest = std::max(largest, norm(slopes.back()));
  }
  for (const Simd simd : available_simd()) {
    SCOPED_TRACE(simd_name(simd));
    EXPECT_LT(distance(c.predict(kernels(simd)), plain), 2e-5);
    c.record_and_go_back(kernels(simd));
    for (std::size_t i = 0; i < slopes.size(); ++i) {
      // Against this gradient or a hundredth of the largest: some are sums that cancel.
      const std::vector<float>& found = *c.pairs()[i].slopes;
      EXPECT_LT(distance(found, slopes[i]) * norm(slopes[i]), 1e-4 * (norm(slopes[i]) + 0.01 * largest))
          << "gradient " << i;
    }
  }
}

// Central differences along a random direction of each array. In float the difference quotient is good to a few
// thousandths.
TEST_P(Networks, GradientsAgreeWithFiniteDifferences) {
  Case c(GetParam());
  const Kernels& k = kernels();
  c.record_and_go_back(k);
  double size = 0;
  for (const auto& pair : c.pairs()) {
    for (const float s : *pair.slopes) size += static_cast<double>(s) * s;
  }
  size = std::sqrt(size);
  std::uint64_t next = 0;
  for (const auto& pair : c.pairs()) {
    RandomStream stream(13, Purpose::shuffle, next++);
    const std::vector<float> kept = *pair.values;
    std::vector<double> direction;
    double norm = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      direction.push_back(stream.normal());
      norm += direction.back() * direction.back();
    }
    double slope = 0;
    for (std::size_t i = 0; i < kept.size(); ++i) slope += direction[i] / std::sqrt(norm) * (*pair.slopes)[i];
    const auto at = [&](double h) {
      for (std::size_t i = 0; i < kept.size(); ++i)
        (*pair.values)[i] = static_cast<float>(kept[i] + h * direction[i] / std::sqrt(norm));
      return c.value(k);
    };
    constexpr double kStep = 4e-3;
    const double quotient = (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
    *pair.values = kept;
    EXPECT_NEAR(slope, quotient, 3e-3 * std::abs(quotient) + 2e-4 * size)
        << "array " << next - 1 << " of " << kept.size();
  }
}

TEST_P(Networks, ThreadsDoNotChangeABit) {
  Case c(GetParam());
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<float> one = c.record_and_go_back(kernels());
  std::vector<std::vector<float>> slopes;
  for (const auto& pair : c.pairs()) slopes.push_back(*pair.slopes);
  for (const int threads : {2, 3}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(c.record_and_go_back(kernels()), one);
    for (std::size_t i = 0; i < slopes.size(); ++i) EXPECT_EQ(*c.pairs()[i].slopes, slopes[i]) << i;
  }
  omp_set_num_threads(before);
}

TEST(Networks, NothingToDoIsRefused) {
  Case c(settings()[0]);
  float output = 0;
  EXPECT_ERROR_WITH(Network(c.shape, c.weights, false).predict({}, c.input.data(), nullptr, &output),
                    "there are no samples");
}

}  // namespace
}  // namespace lano::kernels
