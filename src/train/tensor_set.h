// Samples of one split as tensors the model can take: coordinates and input normalised, truth in physical values.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "core/set_description.h"
#include "data/dataset.h"
#include "models/operator_model.h"
#include "normalise/normaliser.h"

namespace lano {

class TensorSet {
 public:
  TensorSet(const Samples& samples, const SetDescription& description, const Normaliser& normaliser);

  std::int64_t size() const { return size_; }
  const Shape& mesh() const { return mesh_; }
  Batch batch(const std::vector<std::int64_t>& rows) const;                // rows of this set, not file ids
  torch::Tensor truth(const std::vector<std::int64_t>& rows) const;        // [B, N, du], physical

 private:
  std::int64_t size_;
  Shape mesh_;                                    // empty for point clouds
  torch::Tensor coordinates_, input_, output_;    // [1 or S,N,dx], [S,N,da], [S,N,du]
};

// Fits the normaliser on training samples.
Normaliser fit_normaliser(const Samples& train, const SetDescription& description, bool scale_coordinates,
                          bool scale_input, bool scale_output);

// network values [.., du] to physical ones, differentiable.
torch::Tensor decode_output(const torch::Tensor& network, const ChannelMap& map);

}  // namespace lano
