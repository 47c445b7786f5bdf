#include "bench/cost_bench.h"

#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>

#include "core/resident_memory.h"
#include "core/threads.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/operator_model.h"
#include "libtorch/torch_loss.h"
#include "model_spec/architecture.h"
#include "train/lano_trainable.h"
#include "train/optimiser.h"

namespace lano::bench {
namespace {

using Clock = std::chrono::steady_clock;

// One sample on a uniform grid, the model, and a whole step of training where that is the work.
class CostProblem {
 public:
  explicit CostProblem(const CostCase& c) : work_(c.work) {
    SetDescription set;
    set.geometry = Geometry::grid;
    set.shape = {c.side, c.side};
    set.coordinates.assign(2, {"x", "1"});
    set.input.assign(1, {"a", "1"});
    set.output.assign(1, {"u", "1"});
    set.box = {0, 1, 0, 1};
    LanoConfig sizes;
    sizes.layers = c.layers;
    sizes.width = c.width;
    sizes.heads = c.heads;
    sizes.agents = 64;
    if (!is_lano(c.model)) sizes.pool = Pool::sequence;
    const double step = 1.0 / static_cast<double>(c.side - 1);
    const LanoShape shape = lano_shape(sizes, set, {step, step}, {0, 0});
    const nlohmann::json architecture = architecture_json(c.model, sizes, {}, shape);
    torch::manual_seed(1);
    const std::int64_t n = c.side * c.side;
    const torch::Tensor line = torch::linspace(0, 1, c.side);
    batch_.coordinates = torch::stack(torch::meshgrid({line, line}, "ij"), -1).view({1, n, 2}).contiguous();
    batch_.input = torch::randn({1, n, 1});
    batch_.mesh = set.shape;
    batch_.spacing = {step, step};
    batch_.origin = {0, 0};
    truth_ = torch::randn({1, n, 1});
    if (is_lano(c.model)) {
      const auto plain = [](const torch::Tensor& x) {
        return std::vector<float>(x.data_ptr<float>(), x.data_ptr<float>() + x.numel());
      };
      lesson_.batch = {
          {n},           false, false, plain(batch_.coordinates), plain(batch_.input), batch_.mesh, batch_.spacing,
          batch_.origin, {}};
      lesson_.truth = {plain(truth_)};
      lano_ = std::make_unique<LanoTrainable>(architecture, TrainConfig{},
                                              Objective{ChannelMap::identity(1), {}, {}, {}, {}});
      if (work_ == Work::step) optimiser_ = std::make_unique<Optimiser>(OptimiserConfig{}, lano_->layout());
      return;
    }
    model_ = make_model(architecture, 1);
    model_->train(work_ == Work::step);
    if (work_ == Work::forward) return;
    flat_ = std::make_unique<FlatParameters>(*model_);
    optimiser_ = std::make_unique<Optimiser>(OptimiserConfig{}, flat_->layout());
  }

  void run() {
    if (lano_ != nullptr && work_ == Work::forward) {
      lano_->pass(lesson_.batch, {}, {});
      return;
    }
    if (lano_ != nullptr) {
      lano_->learn(lesson_);
      clip_gradients(lano_->gradients(), 0.1);
      optimiser_->step(lano_->values(), lano_->gradients(), 0.0, 0.9);
      return;
    }
    if (work_ == Work::forward) {
      const torch::NoGradGuard no_grad;
      model_->forward(batch_);
      return;
    }
    flat_->zero_gradients();
    relative_l2_loss(model_->forward(batch_), truth_).backward();
    clip_gradients(flat_->gradients(), 0.1);
    optimiser_->step(flat_->values(), flat_->gradients(), 0.0, 0.9);
  }

 private:
  Work work_;
  std::unique_ptr<LanoTrainable> lano_;  // by the fused engine; null for other models
  Lesson lesson_;
  std::shared_ptr<OperatorModel> model_;
  Batch batch_;
  torch::Tensor truth_;
  std::unique_ptr<FlatParameters> flat_;
  std::unique_ptr<Optimiser> optimiser_;
};

double milliseconds_of_call(CostProblem& problem) {
  const auto start = Clock::now();
  problem.run();
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace

nlohmann::json measure_cost(const CostCase& c, int threads, double seconds) {
  set_thread_count(threads);
  CostProblem problem(c);
  // What a process does once is not memory of the call: a small case goes first.
  CostCase small = c;
  small.side = 16;
  CostProblem first(small);
  first.run();
  const std::int64_t before = resident_high_water();
  const auto start = Clock::now();
  std::vector<double> ms{milliseconds_of_call(problem)};
  const std::int64_t peak = resident_high_water() - before;
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  // The first call also touches its memory for the first time: it counts only where there is time for no other.
  while (ms.size() < 30 && spent() + ms.back() / 1e3 < seconds) ms.push_back(milliseconds_of_call(problem));
  if (ms.size() > 1) ms.erase(ms.begin());
  std::sort(ms.begin(), ms.end());
  return {{"ms", ms[ms.size() / 2]}, {"peak_bytes", peak}, {"calls", ms.size()}};
}

CostCell expected_cost(const std::vector<CostCell>& before, std::int64_t points, bool quadratic) {
  std::vector<const CostCell*> known;
  for (const CostCell& cell : before) {
    if (cell.left_out.empty()) known.push_back(&cell);
  }
  CostCell expected;
  expected.points = points;
  if (known.empty()) return expected;
  const CostCell& last = *known.back();
  const auto growth = [&](double CostCell::*value, double least) {
    double slope = least;
    if (known.size() > 1) {
      const CostCell& one = *known[known.size() - 2];
      if (one.*value > 0 && last.*value > 0)
        slope = std::log(last.*value / (one.*value)) /
                std::log(static_cast<double>(last.points) / static_cast<double>(one.points));
    }
    return last.*value *
           std::pow(static_cast<double>(points) / static_cast<double>(last.points), std::clamp(slope, least, 2.5));
  };
  expected.ms = growth(&CostCell::ms, quadratic ? 2 : 1);
  expected.bytes = growth(&CostCell::bytes, 1);
  return expected;
}

double fitted_slope(const std::vector<CostCell>& cells, double CostCell::*value, std::size_t count) {
  std::vector<std::pair<double, double>> logs;
  for (const CostCell& cell : cells) {
    if (cell.left_out.empty() && cell.*value > 0)
      logs.emplace_back(std::log(static_cast<double>(cell.points)), std::log(cell.*value));
  }
  if (logs.size() > count) logs.erase(logs.begin(), logs.end() - static_cast<std::ptrdiff_t>(count));
  if (logs.size() < 2) return std::nan("");
  double mean_x = 0, mean_y = 0, above = 0, below = 0;
  for (const auto& [x, y] : logs) {
    mean_x += x / static_cast<double>(logs.size());
    mean_y += y / static_cast<double>(logs.size());
  }
  for (const auto& [x, y] : logs) {
    above += (x - mean_x) * (y - mean_y);
    below += (x - mean_x) * (x - mean_x);
  }
  return above / below;
}

}  // namespace lano::bench
