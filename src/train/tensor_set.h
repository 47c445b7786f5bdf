// Samples of one split as tensors the model can take: coordinates and input normalised, truth in physical values, the
// points of clouds in the order the model wants. Clouds of different sizes are packed into batches, never padded.
#pragma once

#include <torch/torch.h>

#include <span>
#include <vector>

#include "core/set_description.h"
#include "data/dataset.h"
#include "models/operator_model.h"
#include "normalise/normaliser.h"

namespace lano {

// One thing to learn or to judge: a sample, and for time-dependent sets one of its frames.
struct Item {
  std::int64_t row = 0, frame = 0;
};

class TensorSet {
 public:
  // order_box: that of the model (OperatorModel::order_box); used for clouds only.
  TensorSet(Samples samples, const SetDescription& description, const Normaliser& normaliser,
            const std::vector<double>& order_box);

  std::int64_t size() const { return size_; }
  std::int64_t frames() const { return frames_; }
  const Shape& mesh() const { return mesh_; }
  const std::vector<double>& spacing() const { return spacing_; }  // of a uniform grid, else empty
  std::int64_t points_of(std::int64_t row) const { return counts_.empty() ? points_ : counts_[static_cast<std::size_t>(row)]; }

  // Coordinates, input fields and time of the items; rows of this set, not file ids.
  Batch batch(const std::vector<Item>& items) const;
  torch::Tensor truth(const std::vector<Item>& items) const;  // [B, N, du] or packed [1, P, du], physical

  // Values [N, channels] of row `row`, computed in the model's order, brought back to that of the file.
  void restore_order(std::int64_t row, std::int64_t channels, std::span<const float> from, std::span<float> to) const;

 private:
  torch::Tensor rows_of(const torch::Tensor& values, const std::vector<std::int64_t>& rows) const;

  std::int64_t size_, frames_, points_;
  std::vector<std::int64_t> counts_, first_;      // ragged: points of each sample, and before it
  Shape mesh_;                                    // empty for point clouds
  std::vector<double> spacing_, origin_, time_;
  torch::Tensor coordinates_, input_, output_;    // [1 or S,N,dx], [S,N,da], [S*T,N,du]; ragged: [P,dx], [P,da], [P,du]
  std::vector<std::vector<std::int64_t>> order_;  // of each sample; empty where points keep their own
};

// Fits the normaliser on training samples, which may come in pieces: sample by sample in order, so the pieces change no bit.
class NormaliserFit {
 public:
  NormaliserFit(const SetDescription& description, bool scale_coordinates, bool scale_input, bool scale_output);
  void add(const Samples& samples, bool first_piece);  // shared coordinates count once, whatever the number of samples
  Normaliser result() const;

 private:
  SetDescription description_;
  bool scale_coordinates_, scale_input_, scale_output_;
  ChannelStatistics coordinates_, input_, output_;
};

// Network values [.., du] to physical ones and back, differentiable.
torch::Tensor decode_output(const torch::Tensor& network, const ChannelMap& map);
torch::Tensor encode_output(const torch::Tensor& physical, const ChannelMap& map);

}  // namespace lano
