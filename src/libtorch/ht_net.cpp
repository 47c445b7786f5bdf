// HT-Net (Liu, Xu, Zhang 2022; HANO in J. Comput. Phys. 2024): attention in windows on a hierarchy of grids, a V-cycle
// as of H-matrices. Level 1 is the mesh, a cell of level m+1 covers 2 x 2 cells s = 0..3 of level m. Per head, D = C/H:
//   reduce      q_i^(m+1) = sum_s R_s^(m) q_(i,s)^(m), and so k and v                                  fine to coarse
//   attend      h_i^(m) = sum_{j in window of i} softmax_j(q_i . k_j / sqrt(D)) v_j                    on every level
//   decompose   h_(i,s)^(m) <- h_(i,s)^(m) + D_s^(m) h_i^(m+1)                                         coarse to fine
// and the layer is Wo h^(1) in the pre-norm frame. Windows (model.window points per axis) do not overlap, so points of
// different windows interact through the coarser levels alone. There are as many levels as it takes to bring
// the training mesh into one window, at most model.levels. The mesh is filled with zeros to even sizes; what was filled
// in is no key. R starts near the mean of the four, D near a copy. The paper's head is a Fourier neural operator; here
// it is the linear decoder of the frame, so that what is measured is the hierarchy. Cost O(N w^2 C) for windows of w x
// w.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/error.h"
#include "libtorch/baselines.h"
#include "libtorch/pre_norm.h"

namespace lano {
namespace {

namespace nn = torch::nn;

std::int64_t level_count(const BaselineConfig& config, const Shape& mesh) {
  std::int64_t levels = 1;
  std::int64_t side = *std::max_element(mesh.begin(), mesh.end());
  for (; side > config.window && levels < config.levels; side = (side + 1) / 2) ++levels;
  return levels;
}

// Softmax attention in windows: q, k, v [B,H,a,b,D] -> [B,H,a,b,D].
torch::Tensor attend_in_windows(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                std::int64_t window) {
  const std::int64_t a = q.size(2), b = q.size(3), wa = std::min(window, a), wb = std::min(window, b);
  const std::int64_t na = (a + wa - 1) / wa, nb = (b + wb - 1) / wb;
  const auto cut = [&](const torch::Tensor& x) {  // [B,H,na nb,wa wb,D]
    return torch::constant_pad_nd(x, {0, 0, 0, nb * wb - b, 0, na * wa - a})
        .reshape({x.size(0), x.size(1), na, wa, nb, wb, x.size(4)})
        .permute({0, 1, 2, 4, 3, 5, 6})
        .reshape({x.size(0), x.size(1), na * nb, wa * wb, x.size(4)});
  };
  torch::Tensor scores = torch::matmul(cut(q), cut(k).transpose(3, 4)) / std::sqrt(static_cast<double>(q.size(4)));
  if (na * wa != a || nb * wb != b) {  // every window holds a point of the mesh, so no row is empty
    const torch::Tensor filled =
        cut(torch::ones({1, 1, a, b, 1}, q.options())).transpose(3, 4) == 0;  // [1,1,na nb,1,wa wb]
    scores = scores.masked_fill(filled, -std::numeric_limits<double>::infinity());
  }
  return torch::matmul(torch::softmax(scores, -1), cut(v))
      .reshape({q.size(0), q.size(1), na, nb, wa, wb, q.size(4)})
      .permute({0, 1, 2, 4, 3, 5, 6})
      .reshape({q.size(0), q.size(1), na * wa, nb * wb, q.size(4)})
      .narrow(2, 0, a)
      .narrow(3, 0, b);
}

class HierarchicalAttention : public nn::Module {
 public:
  HierarchicalAttention(const BaselineConfig& config, const LanoShape& shape)
      : heads_(config.heads), window_(config.window), levels_(level_count(config, shape.mesh)) {
    const std::int64_t c = config.width, d = c / heads_;
    qkv_ = register_module("qkv", nn::Linear(nn::LinearOptions(c, 3 * c).bias(false)));
    out_ = register_module("out", nn::Linear(c, c));
    if (levels_ == 1) return;
    const torch::Tensor one = torch::eye(d).repeat({4, 1});  // CPU: moved with the model; [4D,D]
    reduce_ = register_parameter("reduce", one / 4 + 0.02 * torch::randn({levels_ - 1, heads_, 4 * d, d}));
    decompose_ = register_parameter("decompose", one.t() + 0.02 * torch::randn({levels_ - 1, heads_, d, 4 * d}));
  }

  torch::Tensor forward(const torch::Tensor& f, const Shape& mesh) {
    std::vector<torch::Tensor> fields{
        qkv_(f).view({f.size(0), mesh[0], mesh[1], 3, heads_, -1}).permute({3, 0, 4, 1, 2, 5})};  // [3,B,H,a,b,D]
    for (std::int64_t m = 0; m + 1 < levels_; ++m) fields.push_back(reduce(fields.back(), reduce_[m]));
    torch::Tensor h;
    for (std::int64_t m = levels_ - 1; m >= 0; --m) {
      const torch::Tensor& field = fields[static_cast<std::size_t>(m)];
      const torch::Tensor own = attend_in_windows(field[0], field[1], field[2], window_);
      h = h.defined() ? own + decompose(h, decompose_[m], own.size(2), own.size(3)) : own;
    }
    return out_(h.permute({0, 2, 3, 1, 4}).reshape(f.sizes()));
  }

 private:
  // [3,B,H,a,b,D] -> [3,B,H,ceil(a/2),ceil(b/2),D] by maps [H,4D,D].
  static torch::Tensor reduce(const torch::Tensor& x, const torch::Tensor& maps) {
    const torch::Tensor even = torch::constant_pad_nd(x, {0, 0, 0, x.size(4) % 2, 0, x.size(3) % 2});
    const std::int64_t a = even.size(3) / 2, b = even.size(4) / 2;
    const torch::Tensor four =
        even.reshape({3, x.size(1), x.size(2), a, 2, b, 2, x.size(5)}).permute({0, 1, 2, 3, 5, 4, 6, 7});
    return torch::matmul(four.reshape({3, x.size(1), x.size(2), a * b, 4 * x.size(5)}), maps).unflatten(3, {a, b});
  }

  // [B,H,ceil(a/2),ceil(b/2),D] -> [B,H,a,b,D] by maps [H,D,4D].
  static torch::Tensor decompose(const torch::Tensor& h, const torch::Tensor& maps, std::int64_t a, std::int64_t b) {
    const std::int64_t d = h.size(4);
    return torch::matmul(h.flatten(2, 3), maps)
        .reshape({h.size(0), h.size(1), h.size(2), h.size(3), 2, 2, d})
        .permute({0, 1, 2, 4, 3, 5, 6})
        .reshape({h.size(0), h.size(1), 2 * h.size(2), 2 * h.size(3), d})
        .narrow(2, 0, a)
        .narrow(3, 0, b);
  }

  std::int64_t heads_, window_, levels_;
  nn::Linear qkv_{nullptr}, out_{nullptr};
  torch::Tensor reduce_, decompose_;
};

}  // namespace

std::shared_ptr<OperatorModel> make_ht_net(const BaselineConfig& config, const LanoShape& shape) {
  if (shape.axes != 2)
    fail_usage("making an HT-Net", "a grid or mesh of two axes", axes_text(shape.axes), "choose another model");
  return std::make_shared<PreNormOperator<HierarchicalAttention>>(config, shape);
}

}  // namespace lano
