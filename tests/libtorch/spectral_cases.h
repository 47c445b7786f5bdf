// What the tests of the spectral baselines share: models of the standard and of small sizes, batches for them, the
// public implementation's names of the parts they share, and what every one of them must do on every geometry it takes.
#pragma once

#include "parity.h"
#include "scratch.h"

namespace lano::test {

inline LanoShape shape_of(const Shape& mesh, std::int64_t points, std::int64_t dims, std::int64_t da = 1,
                          std::int64_t du = 1) {
  LanoShape shape;
  shape.axes = static_cast<std::int64_t>(mesh.size());
  shape.mesh = mesh;
  shape.points = mesh.empty() ? points : 0;
  shape.dims = dims;
  shape.input_channels = da;
  shape.output_channels = du;
  return shape;
}

// L = 8, H = 8, C = 128, r = 2, 12 modes: the defaults.
inline std::shared_ptr<OperatorModel> standard(const std::string& name, const LanoShape& shape) {
  BaselineConfig config;
  config.name = name;
  return make_model(to_json(config, shape), 1);
}

inline LanoShape darcy() { return shape_of({85, 85}, 0, 2); }
inline LanoShape elasticity() { return shape_of({}, 972, 2); }

inline BaselineConfig tiny_baseline(const std::string& name) {
  BaselineConfig config;
  config.name = name;
  config.layers = 2;
  config.heads = 2;
  config.width = 4;
  config.modes = 3;
  config.latent_grid = 16;
  return config;
}

inline Batch batch_for(const LanoShape& shape, std::int64_t samples, const Shape& mesh = {}) {
  torch::manual_seed(11);
  Batch batch;
  batch.mesh = mesh.empty() ? shape.mesh : mesh;
  const std::int64_t n = shape.axes > 0 ? element_count(batch.mesh) : shape.points;
  batch.coordinates = torch::rand({samples, n, shape.dims});
  batch.input = torch::randn({samples, n, shape.input_channels});
  return batch;
}

// Answers of the right shape, the same in double, that know each point's own input, with a finite gradient for every
// weight.
inline void expect_works(const BaselineConfig& config, const LanoShape& shape, const Shape& mesh = {}) {
  SCOPED_TRACE(config.name + " on " + shape_text(mesh.empty() ? shape.mesh : mesh));
  const auto model = make_model(to_json(config, shape), 5);
  Batch batch = batch_for(shape, 2, mesh);
  if (config.task == Task::time_conditional) batch.time = torch::tensor({0.0f, 3.0f});
  batch.input.requires_grad_();
  const torch::Tensor out = model->forward(batch);  // in training: norms take the batch's statistics
  ASSERT_EQ(out.sizes(), torch::IntArrayRef({2, batch.coordinates.size(1), shape.output_channels}));
  out.square().sum().backward();
  EXPECT_GT(batch.input.grad().abs().sum(-1).min().item<float>(), 0);
  for (const auto& item : model->named_parameters()) {
    if (item.key().find("deformation.code") != std::string::npos) continue;  // no effect on the output
    ASSERT_TRUE(item.value().grad().defined()) << item.key();
    EXPECT_TRUE(torch::isfinite(item.value().grad()).all().item<bool>()) << item.key();
  }
  for (const auto& item : model->named_buffers())
    EXPECT_TRUE(torch::isfinite(item.value()).all().item<bool>()) << item.key();

  // U-nets in time normalise each sample at each scale, down to two points, where that is a sign: no rounding survives
  // it.
  if (config.task != Task::steady) return;
  model->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor single = model->forward(batch);
  model->to(torch::kFloat64);
  batch.coordinates = batch.coordinates.to(torch::kFloat64);
  batch.input = batch.input.to(torch::kFloat64);
  const torch::Tensor reference = model->forward(batch);
  ASSERT_EQ(reference.scalar_type(), torch::kFloat64);
  EXPECT_LT(relative_difference(single, reference), 1e-4);
}

// Grids of one to three axes, one of which needs no padding, another resolution, more modes than points, clouds, and
// both tasks in time.
inline void expect_works_everywhere(const std::string& name) {
  const BaselineConfig config = tiny_baseline(name);
  expect_works(config, shape_of({21}, 0, 1));
  expect_works(config, shape_of({16, 20}, 0, 2, 1, 2));
  expect_works(config, shape_of({20, 16}, 0, 2), {9, 33});
  expect_works(config, shape_of({5, 6, 7}, 0, 3));
  expect_works(config, shape_of({}, 30, 2));
  BaselineConfig many = config;
  many.modes = 40;
  expect_works(many, shape_of({7, 18}, 0, 2));
  BaselineConfig timed = config;
  timed.task = Task::time_conditional;
  expect_works(timed, shape_of({6, 18}, 0, 2));
  timed.task = Task::autoregressive;
  expect_works(timed, shape_of({}, 30, 2));
  EXPECT_ERROR_WITH(make_model(to_json(config, shape_of({}, 30, 3)), 1), "3-dimensional points");
  many.latent_grid = 64;
  EXPECT_ERROR_WITH(make_model(to_json(many, shape_of({}, 30, 2)), 1), "at most half of model.latent_grid = 64");
}

// Parameters counted by hand, with two coordinates, two axes and one input channel.
namespace counted {

inline std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }
inline std::int64_t encoder(std::int64_t c, std::int64_t out) { return linear(3, 2 * c) + linear(2 * c, out); }
inline std::int64_t decoder(std::int64_t in, std::int64_t hidden) { return linear(in, hidden) + linear(hidden, 1); }
inline std::int64_t spectral(std::int64_t c, std::int64_t modes) { return 2 * c * c * modes * modes; }
inline std::int64_t projection(std::int64_t c, std::int64_t modes) {
  return 2 * spectral(c, modes) + linear(4, 32) + linear(42, 32) + linear(96, 128) + 3 * linear(128, 128) +
         linear(128, 2);
}
inline std::int64_t double_convolution(std::int64_t in, std::int64_t middle, std::int64_t out) {
  return 9 * in * middle + 2 * middle + 9 * middle * out + 2 * out;
}
inline std::int64_t unet(std::int64_t c) {
  const auto down = [](std::int64_t in, std::int64_t out) { return double_convolution(in, out, out); };
  return down(c, c) + down(c, 2 * c) + down(2 * c, 4 * c) + down(4 * c, 8 * c) + down(8 * c, 8 * c) +
         double_convolution(16 * c, 8 * c, 4 * c) + double_convolution(8 * c, 4 * c, 2 * c) +
         double_convolution(4 * c, 2 * c, c) + double_convolution(2 * c, c, c) + linear(c, c);
}

}  // namespace counted

inline std::string theirs_of_the_frame(const std::string& name) {
  return renamed(name, {{"encoder1", "preprocess.linear_pre.0"},
                        {"encoder2", "preprocess.linear_post"},
                        {"decoder", "fc"},
                        {"projection.in.", "fftproject_in."},
                        {"projection.out.", "fftproject_out."},
                        {"complex", "weights"},
                        {"projection.deformation.", "iphi."},
                        {"iphi.features", "iphi.fc0"},
                        {"iphi.code", "iphi.fc_code"},
                        {"iphi.inner0", "iphi.fc_no_code"},
                        {"iphi.inner", "iphi.fc"},
                        {"iphi.shift", "iphi.fc4"}});
}

inline std::string theirs_of_fourier_layers(const std::string& name) {
  const std::string theirs = theirs_of_the_frame(name);  // "layers.2.spectral...", "layers.2.local..."
  if (!theirs.starts_with("layers.")) return theirs;
  const std::string number = theirs.substr(7, 1), part = theirs.substr(9);
  return renamed(part, {{"spectral.", "conv" + number + "."}, {"local.", "w" + number + "."}});
}

// The parts of a U-net; theirs count scales from one, and ups from the coarsest.
inline std::string theirs_of_the_unet(const std::string& name) {
  return renamed(name, {{"down0.", "inc.double_conv."},
                        {"down1.", "down1.maxpool_conv.1.double_conv."},
                        {"down2.", "down2.maxpool_conv.1.double_conv."},
                        {"down3.", "down3.maxpool_conv.1.double_conv."},
                        {"down4.", "down4.maxpool_conv.1.double_conv."},
                        {"up3.", "UP1.conv.double_conv."},
                        {"up2.", "UP2.conv.double_conv."},
                        {"up1.", "UP3.conv.double_conv."},
                        {"up0.", "UP4.conv.double_conv."},
                        {"UP", "up"},
                        {"last.", "outc.conv."},
                        {"conv1.", "0."},
                        {"norm1.", "1."},
                        {"conv2.", "3."},
                        {"norm2.", "4."},
                        {".mean", ".running_mean"},
                        {".variance", ".running_var"}});
}

}  // namespace lano::test
