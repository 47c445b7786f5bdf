#include "ops/fused_lano.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/functions/utils.h>

#include <numeric>

#include "core/error.h"
#include "kernels/geometry_cache.h"

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
  std::uint32_t input_version = 0;
  std::vector<std::int64_t> time_sizes;  // empty without time
  FusedTensors tensors;                  // shapes of the gradients; the values used are those packed in the network

  torch::autograd::variable_list apply(torch::autograd::variable_list&& gradients) override {
    constexpr const char* kDoing = "the backward pass of the fused engine";
    if (tape == nullptr) fail(kDoing, "a forward pass kept for it", "one that was used up", "keep the graph, or run the forward pass again");
    if (torch::GradMode::is_enabled()) fail(kDoing, "first derivatives", "a graph of them to be kept", "use the composite engine for second derivatives");
    if (input._version() != input_version) fail(kDoing, "the input as it was in the forward pass", "one changed in place");
    if (!gradients[0].defined()) return torch::autograd::variable_list(num_outputs());
    const torch::Tensor doutput = gradients[0].contiguous();
    torch::Tensor dinput, dtime;
    if (task_should_compute_output(0)) dinput = torch::empty_like(input);
    if (!time_sizes.empty() && task_should_compute_output(1)) dtime = torch::empty(time_sizes, input.options());
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
  LanoConfig config;
  LanoShape shape;
  kernels::GeometryCache geometries;
};

FusedLano::FusedLano(const LanoConfig& config, const LanoShape& shape) : kept_(new Kept{config, shape, {config, shape, true}}) {}
FusedLano::~FusedLano() = default;

torch::Tensor FusedLano::forward(const torch::Tensor& input, const torch::Tensor& time, const Arrangement& arrangement, const FusedTensors& tensors) {
  const LanoConfig& config = kept_->config;
  const LanoShape& about = kept_->shape;
  constexpr const char* kDoing = "applying the fused engine";
  const auto require = [&](bool good, const std::string& expected, const torch::Tensor& found) {
    if (!good) fail(kDoing, expected, found.defined() ? c10::str(found.sizes()) : "none");
  };
  const Arrangement& a = arrangement;
  require(input.dim() == 3 && input.size(0) > 0 && input.size(1) > 0, "features [B, N, channels] of at least one point", input);
  require(input.size(2) == tensors.encoder1.size(1), std::to_string(tensors.encoder1.size(1)) + " features a point", input);
  require(a.mesh.size() == static_cast<std::size_t>(about.axes), std::to_string(about.axes) + " axes of the mesh", input);
  require(a.mesh.empty() || element_count(a.mesh) == input.size(1), "the points of a mesh " + shape_text(a.mesh), input);
  require(a.counts.empty() || (input.size(0) == 1 && std::accumulate(a.counts.begin(), a.counts.end(), std::int64_t{0}) == input.size(1) &&
                               *std::min_element(a.counts.begin(), a.counts.end()) > 0),
          "packed clouds of the counts given", input);
  const std::int64_t sample_count = a.counts.empty() ? input.size(0) : static_cast<std::int64_t>(a.counts.size());
  require(!time.defined() || (time.dim() == 2 && time.size(0) == sample_count && time.size(1) == config.width), "time features of each sample", time);
  const kernels::NetworkShape shape = kernels::network_shape(config, about);
  const auto geometry = [&](std::int64_t points) { return kept_->geometries.of(points, a.mesh, a.spacing, a.origin, a.patches); };
  Geometries geometries;
  if (a.counts.empty()) {
    geometries.assign(static_cast<std::size_t>(input.size(0)), geometry(input.size(1)));
  } else {
    for (const std::int64_t count : a.counts) geometries.push_back(geometry(count));
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
  node->input_version = x._version();
  if (added.defined()) node->time_sizes = added.sizes().vec();
  node->tensors = whole;
  node->set_next_edges(torch::autograd::collect_next_edges(variables));
  torch::autograd::create_gradient_edge(output, node);
  return output;
}

}  // namespace lano
