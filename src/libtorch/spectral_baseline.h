// The frame of the spectral baselines: encode each point, bring the field to an image, transform it, bring it back,
// decode each point. Fields on grids and meshes are images already, padded with zeros to sizes the transform takes;
// clouds go through geo-FNO's projection.
#pragma once

#include <memory>

#include "libtorch/baseline.h"
#include "libtorch/geo_projection.h"

namespace lano {

enum class Project { clouds, everything };  // what goes through the projection

class SpectralBaseline : public Baseline {
 protected:
  // Fails if the model does not take the geometry. `channels` of the image, `hidden` width of the decoder channels ->
  // hidden -> du.
  SpectralBaseline(const BaselineConfig& config, const LanoShape& shape, Project project, std::int64_t channels,
                   std::int64_t hidden);

  virtual torch::Tensor transform(const torch::Tensor& image) = 0;  // [B,channels,n1,...] -> the same shape
  // The sizes transform() sees for a mesh or latent grid: each axis rounded up to a multiple of 16.
  virtual Shape image_shape(const Shape& mesh) const;

  std::int64_t axes() const { return projection_ ? 2 : shape_.axes; }  // of the image
  Shape training_mesh() const { return projection_ ? Shape{config_.latent_grid, config_.latent_grid} : shape_.mesh; }

 private:
  torch::Tensor apply(const Points& points) final;

  std::shared_ptr<GeoProjection> projection_;
  torch::nn::Linear decoder1_{nullptr}, decoder2_{nullptr};
};

}  // namespace lano
