#include "libtorch/spectral_baseline.h"

#include <fmt/format.h>

#include "core/error.h"
#include "libtorch/features.h"
#include "libtorch/images.h"
#include "model_spec/baseline_size.h"

namespace lano {

SpectralBaseline::SpectralBaseline(const BaselineConfig& config, const LanoShape& shape, Project project,
                                   std::int64_t channels, std::int64_t hidden)
    : Baseline(config, shape, channels) {
  const std::string doing = fmt::format("making {}", config.name);
  register_encoder(/*placeholder=*/false);
  if (shape.axes == 0 || project == Project::everything) {
    if (shape.dims != 2) {
      fail_usage(doing,
                 project == Project::everything
                     ? "points in the plane, which is what geo-FNO's projection takes"
                     : "a grid, a mesh, or points in the plane, which is what geo-FNO's projection takes",
                 fmt::format("{}-dimensional points", shape.dims), "choose a model without Fourier transforms");
    }
    if (2 * config.modes > config.latent_grid) {
      fail_usage(doing, fmt::format("model.modes of at most half of model.latent_grid = {}", config.latent_grid),
                 std::to_string(config.modes));
    }
    projection_ = register_module("projection", std::make_shared<GeoProjection>(channels, config.modes));
  }
  decoder1_ = register_module("decoder1", torch::nn::Linear(channels, hidden));
  decoder2_ = register_module("decoder2", torch::nn::Linear(hidden, shape.output_channels));
}

Shape SpectralBaseline::image_shape(const Shape& mesh) const {
  Shape sizes = mesh;
  for (std::int64_t& n : sizes) n = padded_points(n);
  return sizes;
}

torch::Tensor SpectralBaseline::apply(const Points& points) {
  torch::Tensor f = encode(points);
  if (projection_) {
    const GeoProjection::Waves waves = projection_->waves(unit_coordinates(shape_, points.coordinates));
    const Shape grid = image_shape(training_mesh());
    f = projection_->to_points(transform(projection_->to_grid(f, waves, grid[0])), waves);
  } else {
    f = from_image(crop_image(transform(pad_image(to_image(f, points.mesh), image_shape(points.mesh))), points.mesh));
  }
  return decoder2_(torch::gelu(decoder1_(f)));
}

}  // namespace lano
