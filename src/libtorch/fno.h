// The class behind `fno` and `geo-fno`, which differ in what goes through geo-FNO's projection.
#pragma once

#include <vector>

#include "libtorch/spectral_baseline.h"

namespace lano {

inline constexpr int kFourierLayers = 4;  // of FNO and U-FNO, as published, whatever model.layers is

class Fno : public SpectralBaseline {
 public:
  Fno(const BaselineConfig& config, const LanoShape& shape, Project project);

 private:
  torch::Tensor transform(const torch::Tensor& image) override;
  std::vector<std::shared_ptr<FourierLayer>> layers_;
};

}  // namespace lano
