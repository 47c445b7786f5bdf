#include "ops/fused_lano.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <map>
#include <tuple>

#include "core/error.h"
#include "core/lano_layout.h"

namespace lano {
namespace {

using Geometries = std::vector<std::shared_ptr<const kernels::Geometry>>;  // of each sample

std::vector<kernels::Sample> samples_of(const Geometries& geometries) {
  std::vector<kernels::Sample> samples;
  std::int64_t first = 0;
  for (const auto& geometry : geometries) {
    samples.push_back({first, geometry.get()});
    first += geometry->points;
  }
  return samples;
}

// The node of the autograd graph: edges to the input, the time features, and every weight in the order of for_each_tensor.
struct FusedNode : torch::autograd::Node {
  std::shared_ptr<kernels::Network> network;
  std::shared_ptr<kernels::Tape> tape;
  Geometries geometries;
  torch::Tensor input;
  std::vector<std::int64_t> time_sizes;  // empty without time
  FusedTensors tensors;                  // shapes of the gradients; the values used are those packed in the network

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    if (tape == nullptr) fail("the backward pass of the fused engine", "a forward pass kept for it", "one that was used up", "keep no graph");
    const torch::Tensor doutput = gradients[0].contiguous();
    torch::Tensor dinput, dtime;
    if (should_compute_output(0)) dinput = torch::empty_like(input);
    if (!time_sizes.empty()) dtime = torch::empty(time_sizes, input.options());
    torch::autograd::variable_list results{dinput, dtime};
    kernels::Gradients to;
    to.blocks.resize(tensors.blocks.size());
    kernels::for_each_tensor(tensors, to, [&](const torch::Tensor& tensor, float*& pointer) {
      if (!tensor.defined()) return;
      results.push_back(torch::empty(tensor.sizes(), tensor.options()));
      pointer = results.back().data_ptr<float>();
    });
    network->backward(*tape, input.data_ptr<float>(), doutput.data_ptr<float>(), to, dinput.defined() ? dinput.data_ptr<float>() : nullptr,
                      dtime.defined() ? dtime.data_ptr<float>() : nullptr);
    return results;
  }

  void release_variables() override {
    network.reset();
    tape.reset();
    input.reset();
  }

  std::string name() const override { return "FusedLano"; }
};

}  // namespace

struct FusedLano::Kept {
  using Key = std::tuple<std::int64_t, Shape, std::vector<double>, std::vector<double>, std::vector<std::int64_t>>;
  LanoConfig config;
  LanoShape shape;
  std::map<Key, std::shared_ptr<const kernels::Geometry>> geometries;

  std::shared_ptr<const kernels::Geometry> geometry(std::int64_t points, const Arrangement& a) {
    const Key key{points, a.mesh, a.spacing, a.origin, a.patches};
    if (const auto found = geometries.find(key); found != geometries.end()) return found->second;
    if (geometries.size() >= 4096) geometries.clear();
    const Layout layout = lano_layout(config, shape, points, a.mesh, a.spacing, a.origin, {});
    const std::vector<std::int64_t> trained = shape.patches.empty() ? std::vector<std::int64_t>{config.agents} : shape.patches;
    auto made = std::make_shared<const kernels::Geometry>(kernels::make_geometry(config, trained, a.patches, points, a.mesh, layout.axes));
    geometries.emplace(key, made);
    return made;
  }
};

FusedLano::FusedLano(const LanoConfig& config, const LanoShape& shape) : kept_(new Kept{config, shape, {}}) {}
FusedLano::~FusedLano() = default;

torch::Tensor FusedLano::forward(const torch::Tensor& input, const torch::Tensor& time, const Arrangement& arrangement, const FusedTensors& tensors) {
  const LanoConfig& config = kept_->config;
  const LanoShape& about = kept_->shape;
  kernels::NetworkShape shape;
  shape.heads = config.heads;
  shape.width = config.width;
  shape.feed_forward = config.ffn_ratio * config.width;
  shape.agents = config.agents;
  shape.inputs = input.size(2);
  shape.outputs = about.output_channels;
  shape.bias = config.bias;
  if (config.dwc) {
    shape.taps = 3;
    for (std::int64_t a = 1; a < about.axes; ++a) shape.taps *= 3;
  }
  Geometries geometries;
  if (arrangement.counts.empty()) {
    geometries.assign(static_cast<std::size_t>(input.size(0)), kept_->geometry(input.size(1), arrangement));
  } else {
    for (const std::int64_t count : arrangement.counts) geometries.push_back(kept_->geometry(count, arrangement));
  }

  torch::autograd::variable_list variables{input, time};
  FusedTensors whole;  // contiguous
  kernels::Weights weights;
  whole.blocks.resize(tensors.blocks.size());
  weights.blocks.resize(tensors.blocks.size());
  kernels::for_each_tensor(tensors, whole, [&](const torch::Tensor& tensor, torch::Tensor& to) {
    if (!tensor.defined()) return;
    variables.push_back(tensor);
    to = tensor.detach().contiguous();
  });
  kernels::for_each_tensor(whole, weights, [](const torch::Tensor& tensor, const float*& pointer) {
    pointer = tensor.defined() ? tensor.data_ptr<float>() : nullptr;
  });

  const torch::Tensor x = input.detach().contiguous();
  const torch::Tensor added = time.defined() ? time.detach().contiguous() : torch::Tensor();
  const float* const added_values = added.defined() ? added.data_ptr<float>() : nullptr;
  torch::Tensor output = torch::empty({input.size(0), input.size(1), shape.outputs}, x.options());
  const std::vector<kernels::Sample> samples = samples_of(geometries);
  const bool recording = torch::GradMode::is_enabled() && torch::autograd::any_variable_requires_grad(variables);
  auto network = std::make_shared<kernels::Network>(shape, weights, recording);
  if (!recording) {
    network->predict(samples, x.data_ptr<float>(), added_values, output.data_ptr<float>());
    return output;
  }
  const std::shared_ptr<FusedNode> node(new FusedNode(), torch::autograd::deleteNode);
  node->tape = network->record(samples, x.data_ptr<float>(), added_values, output.data_ptr<float>());
  node->network = std::move(network);
  node->geometries = std::move(geometries);
  node->input = x;
  if (added.defined()) node->time_sizes = added.sizes().vec();
  node->tensors = whole;
  node->set_next_edges(torch::autograd::collect_next_edges(variables));
  torch::autograd::create_gradient_edge(output, node);
  return output;
}

}  // namespace lano
