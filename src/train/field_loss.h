// The training loss on physical values and its gradient: per sample the L2 norm of the error, relative to that of the
// truth or not, averaged over the samples, and for uniform grids the same of the central-difference gradient, of all
// axes together or of each (loss_config.h); channels and samples may have different weights. Everything is computed in
// double from the network's values, and the gradient is that of the network's values: of order one whatever the unit of
// the data, so no unit can make it overflow or vanish.
#pragma once

#include <span>
#include <vector>

#include "core/shape.h"
#include "normalise/normaliser.h"
#include "train/loss_config.h"

namespace lano {

class FieldLoss {
 public:
  // output: from network values to physical ones; spacing: of the uniform grid `mesh`, for the gradient term.
  // base: added to the decoded values of every sample, [N, du]; empty: nothing.
  FieldLoss(LossConfig config, ChannelMap output, Shape mesh, std::vector<double> spacing,
            std::vector<float> base = {});

  // L = 1/B sum_b w_b ( ||e_b|| / n_b + g ||D e_b|| / m_b ), e = sqrt(v) (scale u + shift + base - t): v channel
  // weights, n_b and m_b the norms of the truth and of its gradient (1 where that is zero), or the roots of their
  // numbers of values. With gradient_kind = axes the last term is g sum_a ||D_a z_b|| / m_ba: D_a differences along one
  // axis at every point with zeros outside the grid, z = e, but -t sqrt(v) on the outermost points, where the
  // prediction counts as zero. network, truth: [P, du], sizes: the points of each sample; weights: w, or empty for 1.
  // Writes slopes [P, du] = share dL/du and returns L (without the share).
  double operator()(std::span<const float> network, std::span<const float> truth, std::span<const std::int64_t> sizes,
                    std::span<const double> weights, double share, std::span<float> slopes) const;
  // The terms of the sum, one per sample, for a caller who has some of a batch: slopes = factor d(sum)/du.
  std::vector<double> of_samples(std::span<const float> network, std::span<const float> truth,
                                 std::span<const std::int64_t> sizes, std::span<const double> weights, double factor,
                                 std::span<float> slopes) const;

 private:
  // The gradient term of one sample, without its weight; its slope by the errors, times `weight`, is added.
  double gradient_term(const std::vector<double>& error, const std::vector<double>& truth, double weight,
                       std::vector<double>& slope) const;
  double axis_terms(std::vector<double> error, const std::vector<double>& truth, double weight,
                    std::vector<double>& slope) const;

  LossConfig config_;
  ChannelMap output_;
  Shape mesh_;
  std::vector<double> spacing_;
  std::vector<double> roots_;  // sqrt(v) of each channel
  std::vector<float> base_;
};

}  // namespace lano
