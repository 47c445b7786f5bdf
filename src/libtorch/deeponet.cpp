// DeepONet (Lu et al., Nature Machine Intelligence 2021): the operator as a sum of learned functions of the place with
// learned coefficients,
//   u_c(y) = sum_k b_ck(a) t_ck(y) + beta_c        k < C, for each output channel c
// Branch b: a plain network of the input function at its N sensors, all channels in one vector; where there are no
// input channels the function is the place of the points itself. Trunk t: a plain network of the position, the embedded
// time added after its first map. Both have three hidden layers of width C with GELU, whatever model.layers is; the
// trunk ends in GELU, the branch without. The sensors are fixed: another number of points, or the same in another
// order, is another function to it. Cost O(N C^2), of which N da C once per sample.
#include <fmt/format.h>

#include <array>

#include "core/error.h"
#include "libtorch/baseline.h"
#include "libtorch/baselines.h"

namespace lano {
namespace {

namespace nn = torch::nn;

// in -> C -> C -> C -> out, GELU between; `time` is added to the first layer where there is one.
class PlainNetwork : public nn::Module {
 public:
  PlainNetwork(std::int64_t in, std::int64_t width, std::int64_t out) {
    const std::array<std::int64_t, kMaps + 1> sizes{in, width, width, width, out};
    for (std::size_t l = 0; l < kMaps; ++l) {
      maps_[l] = register_module("map" + std::to_string(l), nn::Linear(sizes[l], sizes[l + 1]));
      nn::init::xavier_normal_(maps_[l]->weight);
      nn::init::zeros_(maps_[l]->bias);
    }
  }

  torch::Tensor forward(const torch::Tensor& in, const torch::Tensor& time = {}) {
    torch::Tensor f = maps_[0](in);
    if (time.defined()) f = f + time;
    for (std::size_t l = 1; l < kMaps; ++l) f = maps_[l](torch::gelu(f));
    return f;
  }

 private:
  static constexpr std::size_t kMaps = 4;
  std::array<nn::Linear, kMaps> maps_{nn::Linear{nullptr}, nn::Linear{nullptr}, nn::Linear{nullptr},
                                      nn::Linear{nullptr}};
};

class DeepOnet : public Baseline {
 public:
  DeepOnet(const BaselineConfig& config, const LanoShape& shape)
      : Baseline(config, shape), sensors_(shape.axes > 0 ? element_count(shape.mesh) : shape.points) {
    if (sensors_ < 1)
      fail_usage_plainly("making deeponet", "its sensors are the points, whose number is not fixed here",
                         "train it on samples of one size");
    const std::int64_t c = config.width, du = shape.output_channels;
    const std::int64_t channels = shape.input_channels > 0 ? shape.input_channels : shape.dims;
    branch_ = register_module("branch", std::make_shared<PlainNetwork>(sensors_ * channels, c, c * du));
    trunk_ = register_module("trunk", std::make_shared<PlainNetwork>(position_channels(), c, c * du));
    bias_ = register_parameter("bias", torch::zeros({du}));
  }

 private:
  torch::Tensor apply(const Points& points) override {
    if (points.coordinates.size(1) != sensors_) {
      fail_usage("applying deeponet", fmt::format("the {} points of its training, which are its sensors", sensors_),
                 std::to_string(points.coordinates.size(1)), "another number needs a model of another kind");
    }
    const torch::Tensor& function = shape_.input_channels > 0 ? points.input : points.coordinates;
    const std::int64_t du = shape_.output_channels;
    const torch::Tensor b = branch_->forward(function.flatten(1)).unflatten(1, {du, -1});  // [B,du,C]
    const torch::Tensor t =
        torch::gelu(trunk_->forward(points.position, points.time)).unflatten(2, {du, -1});  // [B,N,du,C]
    return (t * b.unsqueeze(1)).sum(-1) + bias_;
  }

  std::int64_t sensors_;
  std::shared_ptr<PlainNetwork> branch_, trunk_;
  torch::Tensor bias_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_deeponet(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<DeepOnet>(config, shape);
}

}  // namespace lano
