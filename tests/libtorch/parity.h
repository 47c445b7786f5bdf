// Our models against the numbers of published implementations (tests/data/parity): given their weights under a map of
// names, the same output and the same gradient of sum(out^2) with respect to the input.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "libtorch/operator_model.h"
#include "model_spec/baseline_config.h"
#include "runtime/safetensors.h"

namespace lano {

// Renames pieces of a dotted name: every occurrence of `first` becomes `second`, in the order given.
using Renames = std::vector<std::pair<std::string, std::string>>;

inline std::string renamed(std::string name, const Renames& renames) {
  for (const auto& [from, to] : renames) {
    for (std::size_t at = name.find(from); at != std::string::npos; at = name.find(from, at + to.size()))
      name.replace(at, from.size(), to);
  }
  return name;
}

inline torch::Tensor as_torch(const Tensor& tensor) {
  return torch::from_blob(const_cast<float*>(tensor.values.data()), tensor.shape, torch::kFloat32).clone();
}

inline double relative_difference(const torch::Tensor& ours, const torch::Tensor& theirs) {
  return ((ours - theirs).norm() / theirs.norm()).item<double>();
}

struct ParityCase {
  std::string file;                                       // without ending
  std::string model;                                      // our name
  std::function<std::string(const std::string&)> theirs;  // our tensor's name -> theirs, without "w/"
  std::set<std::string> unused = {};                      // tensors of theirs that do not affect the output
  double tolerance = 1e-4;                                // relative L2 of output and gradient
  bool training = false;                                  // in training mode, where the file has these numbers too
  // What is done to the model with their weights before it is applied.
  std::function<void(OperatorModel&, const Batch&)> prepare = [](OperatorModel&, const Batch&) {};
  // Their tensor in our layout, where it is not the same; by our name.
  std::function<torch::Tensor(const std::string&, const torch::Tensor&)> layout =
      [](const std::string&, const torch::Tensor& t) { return t; };
};

inline BaselineConfig parity_config(const std::string& model, const nlohmann::json& args) {
  BaselineConfig config;
  config.name = model;
  config.width = args.at("n_hidden");
  config.layers = args.at("n_layers");
  config.heads = args.at("n_heads");
  config.ffn_ratio = args.at("mlp_ratio");
  config.slices = args.at("slice_num");
  config.modes = args.at("modes");
  config.features = args.at("psi_dim");
  config.wavelets = args.at("mwt_k");
  config.tokens = args.at("num_token");
  config.basis = args.at("num_basis");
  return config;
}

inline void expect_parity(const ParityCase& c) {
  const TensorFile file = read_safetensors(std::string(LANO_TEST_FILES) + "/../parity/" + c.file + ".safetensors");
  const nlohmann::json args = nlohmann::json::parse(file.metadata.at("args"));
  LanoShape shape;
  shape.dims = args.at("space_dim");
  shape.input_channels = 1;
  if (args.at("shapelist").is_null()) {
    shape.axes = 0;
    shape.points = 200;
  } else {
    shape.mesh = args.at("shapelist").get<Shape>();
    shape.axes = static_cast<std::int64_t>(shape.mesh.size());
  }
  const auto model = make_model(to_json(parity_config(c.model, args), shape), 3);
  model->train(c.training);

  std::set<std::string> taken;
  std::size_t used = 0;
  const auto take = [&](const std::string& name, torch::Tensor ours) {
    const std::string theirs = "w/" + c.theirs(name);
    const auto found = file.tensors.find(theirs);
    ASSERT_NE(found, file.tensors.end()) << name << " -> " << theirs;
    const torch::Tensor values = c.layout(name, as_torch(found->second));
    ASSERT_EQ(values.sizes(), ours.sizes()) << name << " -> " << theirs;
    const torch::NoGradGuard no_grad;
    ours.copy_(values);
    taken.insert(theirs);
    ++used;
  };
  for (const auto& item : model->named_parameters()) take(item.key(), item.value());
  for (const auto& item : model->named_buffers()) {
    if (item.value().is_floating_point()) take(item.key(), item.value());
  }
  if (testing::Test::HasFatalFailure()) return;
  // Nothing of theirs is left over: every weight has its place in our model.
  for (const auto& [name, tensor] : file.tensors) {
    EXPECT_TRUE(!name.starts_with("w/") || taken.contains(name) || c.unused.contains(name.substr(2)))
        << name << " is not used";
  }
  EXPECT_GT(used, 0u);

  Batch batch;
  batch.coordinates = as_torch(file.tensors.at("x"));
  batch.input = as_torch(file.tensors.at("fx")).requires_grad_();
  batch.mesh = shape.mesh;
  c.prepare(*model, batch);
  const torch::Tensor out = model->forward(batch);
  const std::string mode = c.training ? "train_" : "";
  const double output_difference = relative_difference(out.detach(), as_torch(file.tensors.at(mode + "out")));
  EXPECT_LT(output_difference, c.tolerance);
  out.square().sum().backward();
  const double gradient_difference =
      relative_difference(batch.input.grad(), as_torch(file.tensors.at(mode + "grad_fx")));
  EXPECT_LT(gradient_difference, c.tolerance);
  std::printf("%s%s: output %.1e, gradient %.1e\n", c.file.c_str(), c.training ? ", training" : "", output_difference,
              gradient_difference);
}

}  // namespace lano
