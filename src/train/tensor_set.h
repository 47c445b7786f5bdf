// Samples of one split as tensors the model can take: coordinates and input normalised, truth in physical values, the
// points of clouds in the order the model wants.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

#include "core/set_description.h"
#include "data/dataset.h"
#include "models/operator_model.h"
#include "normalise/normaliser.h"

namespace lano {

class TensorSet {
 public:
  // order_box: that of the model (OperatorModel::order_box); used for clouds only.
  TensorSet(Samples samples, const SetDescription& description, const Normaliser& normaliser,
            const std::vector<double>& order_box);

  std::int64_t size() const { return size_; }
  const Shape& mesh() const { return mesh_; }
  Batch batch(const std::vector<std::int64_t>& rows) const;                // rows of this set, not file ids
  torch::Tensor truth(const std::vector<std::int64_t>& rows) const;        // [B, N, du], physical

  // Values [N, channels] of row `row`, computed in the model's order, brought back to that of the file.
  void restore_order(std::int64_t row, std::int64_t channels, std::span<const float> from, std::span<float> to) const;

 private:
  std::int64_t size_;
  Shape mesh_;                                    // empty for point clouds
  torch::Tensor coordinates_, input_, output_;    // [1 or S,N,dx], [S,N,da], [S,N,du]
  std::vector<std::vector<std::int64_t>> order_;  // of each sample; empty where points keep their own
};

// Fits the normaliser on training samples.
Normaliser fit_normaliser(const Samples& train, const SetDescription& description, bool scale_coordinates,
                          bool scale_input, bool scale_output);

// network values [.., du] to physical ones, differentiable.
torch::Tensor decode_output(const torch::Tensor& network, const ChannelMap& map);

}  // namespace lano
