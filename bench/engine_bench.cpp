#include "bench/engine_bench.h"

#include <malloc.h>
#include <torch/torch.h>

#include <functional>

#include "bench/timing.h"
#include "core/error.h"
#include "core/resident_memory.h"
#include "core/threads.h"
#include "kernels/buffer.h"
#include "kernels/tile_kernels.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/operator_model.h"
#include "libtorch/torch_loss.h"
#include "train/lano_trainable.h"
#include "train/optimiser.h"

namespace lano::bench {
namespace {

using Clock = std::chrono::steady_clock;

// The paper's model on one of its benchmarks, with random data of that shape.
struct Problem {
  LanoConfig config;
  SetDescription set;
  std::int64_t batch_size = 4;
  bool fused = true;                         // the engine in use
  std::unique_ptr<LanoTrainable> trainable;  // fused, on plain memory
  Lesson lesson;
  std::shared_ptr<OperatorModel> model;  // composite, the same weights
  Batch batch;
  torch::Tensor truth;
  std::unique_ptr<FlatParameters> flat;
  std::unique_ptr<Optimiser> optimiser;

  // B [ L (2NC(4C+2rC) + 8NMC) + 2N((dx+da)2C + 2C^2) ], three times that for a step; recomputation earns nothing.
  double flops(Work work) const {
    const auto n = static_cast<double>(set.points()), c = static_cast<double>(config.width),
               m = static_cast<double>(config.agents);
    const auto l = static_cast<double>(config.layers), r = static_cast<double>(config.ffn_ratio);
    const auto in = static_cast<double>(set.dims() + set.input_channels());
    const double forward = static_cast<double>(batch_size) *
                           (l * (2 * n * c * (4 * c + 2 * r * c) + 8 * n * m * c) + 2 * n * (in * 2 * c + 2 * c * c));
    return work == Work::step ? 3 * forward : forward;
  }

  std::vector<float> forward() {
    if (fused) return trainable->pass(lesson.batch, {}, {});
    const torch::NoGradGuard no_grad;
    const torch::Tensor output = model->forward(batch);
    return {output.data_ptr<float>(), output.data_ptr<float>() + output.numel()};
  }

  // Forward, loss, backward.
  std::span<float> gradients() {
    if (fused) {
      trainable->learn(lesson);
      return trainable->gradients();
    }
    flat->zero_gradients();
    relative_l2_loss(model->forward(batch), truth).backward();
    return flat->gradients();
  }

  // A whole training step with a learning rate of zero: every step is the same work.
  void step() {
    const std::span<float> slopes = gradients();
    clip_gradients(slopes, 0.1);
    optimiser->step(fused ? trainable->values() : flat->values(), slopes, 0.0, 0.9);
  }
};

Problem make_problem(const BenchCase& c, Work work) {
  Problem p;
  const auto describe = [&](Geometry geometry, const Shape& shape, std::size_t inputs) {
    p.set.geometry = geometry;
    p.set.shape = shape;
    p.set.coordinates.assign(2, {"x", "1"});
    p.set.input.assign(inputs, {"a", "1"});
    p.set.output.assign(1, {"u", "1"});
    p.set.box = {0, 1, 0, 1};
  };
  if (c.name == "elasticity") {
    describe(Geometry::points, {972}, 0);
    p.config.agents = 64;
    p.batch_size = 1;
  } else if (c.name == "darcy") {
    describe(Geometry::grid, {85, 85}, 1);
  } else if (c.name == "airfoil") {
    describe(Geometry::mesh, {221, 51}, 0);
  } else if (c.name == "pipe") {
    describe(Geometry::mesh, {129, 129}, 0);
  } else {
    fail_usage("choosing a case", "elasticity, darcy, airfoil or pipe", c.name);
  }
  if (c.grid > 0) describe(Geometry::grid, {c.grid, c.grid}, 1);
  if (work == Work::forward) p.batch_size = 1;
  if (c.batch > 0) p.batch_size = c.batch;
  torch::manual_seed(1);
  const nlohmann::json architecture = to_json(p.config, lano_shape(p.config, p.set));
  TrainConfig recipe;
  recipe.seed = 1;
  p.trainable =
      std::make_unique<LanoTrainable>(architecture, recipe, Objective{ChannelMap::identity(1), {}, {}, {}, {}});
  p.model = make_model(architecture, 1);
  p.batch.coordinates = torch::rand({p.batch_size, p.set.points(), 2});
  p.batch.input = torch::randn({p.batch_size, p.set.points(), p.set.input_channels()});
  if (p.set.geometry != Geometry::points) p.batch.mesh = p.set.shape;
  p.truth = torch::randn({p.batch_size, p.set.points(), 1});
  const auto plain = [](const torch::Tensor& x) {
    return std::vector<float>(x.data_ptr<float>(), x.data_ptr<float>() + x.numel());
  };
  p.lesson.batch.sizes.assign(static_cast<std::size_t>(p.batch_size), p.set.points());
  p.lesson.batch.coordinates = plain(p.batch.coordinates);
  p.lesson.batch.input = plain(p.batch.input);
  p.lesson.batch.mesh = p.batch.mesh;
  p.lesson.truth = {plain(p.truth)};
  if (work == Work::step) {
    p.flat = std::make_unique<FlatParameters>(*p.model);
    p.optimiser = std::make_unique<Optimiser>(OptimiserConfig{}, p.flat->layout());
  }
  return p;
}

// Large problems would not fit in addition to the buffers that the other engine keeps.
void make_room(const Problem& p) {
  if (p.batch_size * p.set.points() < 50000) return;
  kernels::release_kept_buffers();
  ::malloc_trim(0);
}

void use(Problem& p, bool fused, int threads) {
  p.fused = fused;
  set_thread_count(threads);
}

// Largest difference of the engines' outputs (or gradients), relative to the largest value.
double difference(Problem& p, Work work, int threads) {
  const auto values = [&](bool fused) {
    use(p, fused, threads);
    if (work == Work::forward) return p.forward();
    const std::span<float> slopes = p.gradients();
    return std::vector<float>(slopes.begin(), slopes.end());
  };
  const std::vector<float> composite = values(false);
  make_room(p);
  const std::vector<float> fused = values(true);
  float apart = 0, largest = 0;
  for (std::size_t i = 0; i < fused.size(); ++i) {
    apart = std::max(apart, std::abs(fused[i] - composite[i]));
    largest = std::max(largest, std::abs(composite[i]));
  }
  return apart / largest;
}

}  // namespace

std::vector<std::string> case_names() { return {"elasticity", "darcy", "airfoil", "pipe"}; }

double sgemm_rate(int threads, int rounds) {
  set_thread_count(threads);
  static const torch::Tensor a = torch::rand({1024, 1024}), b = torch::rand({1024, 1024});
  torch::Tensor c = torch::empty({1024, 1024});
  const torch::NoGradGuard no_grad;
  std::vector<double> rates;
  for (int i = 0; i < rounds; ++i)
    rates.push_back(2.0 * 1024 * 1024 * 1024 / milliseconds_of([&] { torch::mm_out(c, a, b); }) / 1e6);
  return median(rates);
}

nlohmann::json measure_speed(Work work, const BenchCase& bench_case, int threads, bool with_composite, double seconds) {
  Problem p = make_problem(bench_case, work);
  const auto once = [&] {
    if (work == Work::step) {
      p.step();
    } else {
      p.forward();
    }
  };
  nlohmann::json result{{"case", bench_case.name}, {"work", work == Work::step ? "step" : "forward"},
                        {"batch", p.batch_size},   {"points", p.set.points()},
                        {"threads", threads},      {"simd", kernels::kernels().name}};
  double apart = 0;
  if (with_composite) {
    apart = difference(p, work, threads);
    if (!(apart < 1e-2))
      fail("measuring the engines", "the same result from both", "a difference of " + std::to_string(apart));
  }
  // The composite path runs with one thread too: small problems are faster there, and its best time counts.
  std::vector<int> composite_threads;
  if (with_composite) composite_threads = threads > 1 ? std::vector<int>{1, threads} : std::vector<int>{1};
  std::vector<double> fused_ms, sgemm, adamw_ms, muon_ms;
  std::unique_ptr<Optimiser> muon;  // in addition to the step's own AdamW
  if (work == Work::step) {
    OptimiserConfig config;
    config.kind = OptimiserKind::muon;
    muon = std::make_unique<Optimiser>(config, p.trainable->layout());
  }
  const auto time_optimisers = [&] {
    const auto time = [&](Optimiser& optimiser) {
      return milliseconds_of([&] { optimiser.step(p.trainable->values(), p.trainable->gradients(), 0.0, 0.9); });
    };
    adamw_ms.push_back(time(*p.optimiser));
    muon_ms.push_back(time(*muon));
  };
  std::vector<std::vector<double>> composite_ms(composite_threads.size());
  sgemm_rate(threads, 2);
  use(p, true, threads);
  once();
  const auto start = Clock::now();
  int rounds = 0;
  const auto switch_engine = [&] {
    make_room(p);
    if (p.batch_size * p.set.points() < 50000) return;
    use(p, true, threads);
    once();  // takes its memory again
  };
  for (; rounds < 3 || (rounds < 50 && std::chrono::duration<double>(Clock::now() - start).count() < seconds);
       ++rounds) {
    if (rounds > 0 && with_composite) switch_engine();
    for (int repeat = 0; repeat < 2; ++repeat) {  // sgemm and the fused engine twice a round: they are the contract
      sgemm.push_back(sgemm_rate(threads, 3));
      use(p, true, threads);
      fused_ms.push_back(milliseconds_of(once));
      if (muon) time_optimisers();
    }
    for (std::size_t i = 0; i < composite_threads.size(); ++i) {
      if (i == 0 && composite_threads.size() > 1 && rounds >= 1 && composite_ms[0][0] > 2 * composite_ms[1][0])
        continue;  // hopeless
      make_room(p);
      use(p, false, composite_threads[i]);
      composite_ms[i].push_back(milliseconds_of(once));
    }
  }
  const double fused = median(fused_ms), rate = median(sgemm), gflops = p.flops(work) / fused / 1e6;
  result["rounds"] = rounds;
  result["fused_ms"] = fused;
  result["gflops"] = gflops;
  result["sgemm_gflops"] = rate;
  result["roofline"] = gflops / rate;
  if (muon) {
    const double adam = median(adamw_ms), polar = median(muon_ms);
    result["adamw_ms"] = adam;
    result["muon_ms"] = polar;
    result["muon_share"] = polar / (fused - adam + polar);  // of a step with Muon in AdamW's place
  }
  if (with_composite) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < composite_ms.size(); ++i) {
      if (median(composite_ms[i]) < median(composite_ms[best])) best = i;
    }
    result["composite_ms"] = median(composite_ms[best]);
    result["composite_threads"] = composite_threads[best];
    result["speedup"] = median(composite_ms[best]) / fused;
    result["max_rel_diff"] = apart;
  }
  return result;
}

std::int64_t peak_of_this_process(Work work, const BenchCase& bench_case, int threads, bool fused) {
  Problem p = make_problem(bench_case, work);
  use(p, fused, threads);
  // What a process does once (thread pool, library buffers) is not memory of the call: a small problem of the
  // same kind goes first.
  BenchCase small = bench_case;
  small.grid = 16;
  small.batch = 1;
  Problem warm = make_problem(small, work);
  use(warm, fused, threads);
  const auto run = [&](Problem& problem) {
    if (work == Work::step) {
      problem.step();
    } else {
      problem.forward();
    }
  };
  run(warm);
  const std::int64_t before = resident_high_water();
  run(p);
  return resident_high_water() - before;
}

}  // namespace lano::bench
