// The vanilla transformer (Vaswani et al. 2017) in LANO's frame: o = softmax(q k^T / sqrt(D)) v among all N points, per
// head; q, k, v linear in LN(f) without bias. What linear attention is measured against: cost O(N^2 C).
//
// Rows of queries are taken in tiles of T, so that a score matrix has T x N entries. Forward keeps the logarithms l of
// the row sums; backward makes a tile's scores again. With P = exp(q k^T - l), O = P v and the gradient G of O:
//   dv = P^T G,   dS = P * (G v^T - rowsum(G * O)),   dq = dS k,   dk = dS^T q
// Memory O(NC + TN); backward costs one product more than keeping P would.
#include <algorithm>
#include <cmath>

#include "libtorch/baselines.h"
#include "libtorch/linear_attention.h"
#include "libtorch/pre_norm.h"
#include "libtorch/softmax_attention.h"

namespace lano {
namespace {

namespace nn = torch::nn;

class TiledSoftmax : public torch::autograd::Function<TiledSoftmax> {
 public:
  static torch::Tensor forward(torch::autograd::AutogradContext* context, const torch::Tensor& q,
                               const torch::Tensor& k, const torch::Tensor& v, std::int64_t rows) {
    const torch::Tensor out = torch::empty_like(q),
                        logs = torch::empty({q.size(0), q.size(1), q.size(2), 1}, q.options());
    for (std::int64_t first = 0; first < q.size(2); first += rows) {
      const std::int64_t count = std::min(rows, q.size(2) - first);
      torch::Tensor p = torch::matmul(q.narrow(2, first, count), k.transpose(2, 3));
      const torch::Tensor log = torch::logsumexp(p, -1, true);
      out.narrow(2, first, count).copy_(torch::matmul(p.sub_(log).exp_(), v));
      logs.narrow(2, first, count).copy_(log);
    }
    context->save_for_backward({q, k, v, out, logs});
    context->saved_data["rows"] = rows;
    return out;
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    const torch::Tensor &q = saved[0], &k = saved[1], &v = saved[2], &out = saved[3], &logs = saved[4];
    const std::int64_t rows = context->saved_data["rows"].toInt();
    const torch::Tensor dq = torch::empty_like(q), dk = torch::zeros_like(k), dv = torch::zeros_like(v);
    for (std::int64_t first = 0; first < q.size(2); first += rows) {
      const std::int64_t count = std::min(rows, q.size(2) - first);
      const auto tile = [&](const torch::Tensor& x) { return x.narrow(2, first, count); };
      const torch::Tensor g = tile(gradients[0]), own = tile(q);
      torch::Tensor p = torch::matmul(own, k.transpose(2, 3)).sub_(tile(logs)).exp_();
      dv.add_(torch::matmul(p.transpose(2, 3), g));
      const torch::Tensor ds = torch::matmul(g, v.transpose(2, 3)).sub_((g * tile(out)).sum(-1, true)).mul_(p);
      tile(dq).copy_(torch::matmul(ds, k));
      dk.add_(torch::matmul(ds.transpose(2, 3), own));
    }
    return {dq, dk, dv, torch::Tensor()};
  }
};

class SoftmaxAttention : public nn::Module {
 public:
  SoftmaxAttention(const BaselineConfig& config, const LanoShape&) : heads_(config.heads) {
    const std::int64_t c = config.width;
    qkv_ = register_module("qkv", nn::Linear(nn::LinearOptions(c, 3 * c).bias(false)));
    out_ = register_module("out", nn::Linear(c, c));
  }

  torch::Tensor forward(const torch::Tensor& f, const Shape&) {
    const auto parts = qkv_(f).chunk(3, -1);
    const auto heads = [&](std::size_t part) { return split_heads(parts[part], heads_).contiguous(); };
    constexpr std::int64_t kScores = 1 << 23;  // entries of a tile: 32 MB
    const std::int64_t rows = std::max<std::int64_t>(1, kScores / (f.size(0) * heads_ * f.size(1)));
    const double scale = 1 / std::sqrt(static_cast<double>(f.size(2) / heads_));
    return out_(join_heads(tiled_softmax_attention(heads(0) * scale, heads(1), heads(2), rows)));
  }

 private:
  std::int64_t heads_;
  nn::Linear qkv_{nullptr}, out_{nullptr};
};

}  // namespace

torch::Tensor tiled_softmax_attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                                      std::int64_t rows) {
  return TiledSoftmax::apply(q, k, v, rows);
}

std::shared_ptr<OperatorModel> make_softmax(const BaselineConfig& config, const LanoShape& shape) {
  return std::make_shared<PreNormOperator<SoftmaxAttention>>(config, shape);
}

}  // namespace lano
