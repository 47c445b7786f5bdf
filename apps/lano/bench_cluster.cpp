// `mpirun -n R lano bench cluster`: one pass of the paper's model over a grid whose points are divided over the ranks,
// against one rank by itself; strong scaling (the same grid) and weak scaling (as many points per rank), what is
// exchanged, and a model of time fitted to it that says what more ranks on another network would do. First the
// answers are checked to be the same bits, then they are timed, one rank and all in alternation.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "cluster/time_model.h"
#include "command.h"
#include "core/error.h"
#include "core/ranks.h"
#include "core/resident_memory.h"
#include "core/threads.h"
#include "kernels/geometry_cache.h"
#include "kernels/mesh_part.h"
#include "kernels/mesh_traffic.h"
#include "kernels/tile_kernels.h"
#include "model_spec/lano_sizes.h"
#include "runtime/lano_tensors.h"
#include "train/first_weights.h"

namespace lano::cli {
namespace {

struct Options {
  std::int64_t points = 65536, training_points = 16641, layers = 8, rounds = 3;
  int ranks = 64;                      // of the model
  double latency = 2, bandwidth = 10;  // of its network: microseconds, GB/s
  int threads = 1;
  bool json = false;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The paper's model with its first weights.
class Model {
 public:
  explicit Model(std::int64_t layers) : layers_(layers) {
    config_.layers = layers;
    shape_ = shape_on({85, 85});
    values_ = first_lano_weights(config_, shape_, 1);
    gradients_.resize(values_.size());
    weights_ = tensors<const float*>(values_.data());
    network_shape_ = kernels::network_shape(config_, shape_);
    predicting_ = std::make_unique<kernels::Network>(network_shape_, weights_.network, false);
    training_ = std::make_unique<kernels::Network>(network_shape_, weights_.network, true);
  }

  std::int64_t layers() const { return layers_; }
  const kernels::NetworkShape& network_shape() const { return network_shape_; }
  // As if the model had been trained on this mesh.
  std::shared_ptr<const kernels::Geometry> geometry(const Shape& mesh, bool training) const {
    const LanoShape shape = shape_on(mesh);
    kernels::GeometryCache cache(config_, shape, training);
    return cache.of(element_count(mesh), mesh, shape.spacing, shape.origin,
                    patches_for(config_, shape, config_.agents));
  }

  // One prediction of this rank's points; the answers of all where they are asked for.
  void predict(const kernels::Geometry& geometry, const std::vector<float>& input, std::vector<float>* answers) const {
    const kernels::Sample sample{0, &geometry, nullptr};
    const std::int64_t inputs = network_shape_.inputs;
    kernels::PointStream stream;
    stream.read = [&](std::int64_t first, std::int64_t, float*) { return input.data() + first * inputs; };
    stream.own_alone = answers == nullptr;
    stream.write = [&](std::int64_t first, std::int64_t count, const float* rows, std::int64_t stride) {
      for (std::int64_t i = 0; answers != nullptr && i < count; ++i)
        (*answers)[static_cast<std::size_t>(first + i)] = rows[i * stride];
    };
    predicting_->predict({&sample, 1}, stream, nullptr);
  }

  // Forward and backward of one sample; gradients of all parameters.
  const std::vector<float>& learn(const kernels::Geometry& geometry, const std::vector<float>& input) {
    const kernels::Sample sample{0, &geometry, nullptr};
    std::vector<float> output(static_cast<std::size_t>(geometry.points));
    const auto tape = training_->record({&sample, 1}, input.data(), nullptr, output.data());
    training_->backward(*tape, input.data(), output.data(), tensors<float*>(gradients_.data()).network, nullptr,
                        nullptr);
    return gradients_;
  }

 private:
  LanoShape shape_on(const Shape& mesh) const {
    SetDescription set;
    set.shape = mesh;
    set.coordinates = {{"x", "1"}, {"y", "1"}};
    set.input = {{"a", "1"}};
    set.output = {{"u", "1"}};
    set.box = {0, 1, 0, 1};
    std::vector<double> spacing;
    for (const std::int64_t extent : mesh) spacing.push_back(1.0 / static_cast<double>(extent - 1));
    return lano_shape(config_, set, spacing, {0, 0});
  }

  template <class T>
  LanoTensors<T> tensors(T at) const {
    return make_lano_tensors<T>(config_, shape_, [&](const std::string&, const Shape& shape) {
      const T place = at;
      at += element_count(shape);
      return place;
    });
  }

  std::int64_t layers_;
  LanoConfig config_;
  LanoShape shape_;
  kernels::NetworkShape network_shape_;
  std::vector<float> values_, gradients_;
  LanoWeights weights_;
  std::unique_ptr<kernels::Network> predicting_, training_;
};

Shape near_square(std::int64_t points) {
  const auto side = static_cast<std::int64_t>(std::llround(std::sqrt(static_cast<double>(points))));
  return {(points + side - 1) / side, side};
}

std::vector<float> features(const Shape& mesh) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < mesh[0]; ++i) {
    for (std::int64_t j = 0; j < mesh[1]; ++j) {
      const float x = static_cast<float>(i) / static_cast<float>(mesh[0] - 1),
                  y = static_cast<float>(j) / static_cast<float>(mesh[1] - 1);
      values.insert(values.end(), {x, y, std::sin(5 * x) + std::cos(7 * y)});
    }
  }
  return values;
}

// Wall-clock time and processor time: under other load the two differ.
struct Seconds {
  double clock = 0, processor = 0;
};

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Seconds seconds_of(const auto& work) {
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_seconds();
  work();
  return {std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
          processor_seconds() - before};
}

// The longest of all ranks.
Seconds together(const auto& work) {
  ranks().meet();
  const Seconds mine = seconds_of(work);
  const auto most = [](double value) {
    const std::vector<double> all = ranks().gather(std::span<const double>(&value, 1));
    return *std::max_element(all.begin(), all.end());
  };
  return {most(mine.clock), most(mine.processor)};
}

// The first rank by itself, while the others wait.
Seconds alone(const auto& work) {
  Seconds mine;
  if (ranks().first()) {
    const AloneForNow by_itself;
    mine = seconds_of(work);
  }
  const std::vector<double> all = ranks().gather(std::vector<double>{mine.clock, mine.processor});
  return {all[0], all[1]};
}

Seconds median(const std::vector<Seconds>& all) {
  std::vector<double> clock, processor;
  for (const Seconds& one : all) {
    clock.push_back(one.clock);
    processor.push_back(one.processor);
  }
  return {median(clock), median(processor)};
}

struct Measured {
  std::string name;
  Shape small, large;      // of one rank by itself; of all, as many points per rank
  Seconds one, all, weak;  // of the slowest rank
  Ranks::Traffic counted;  // of one pass on all ranks, the most bytes of any
  kernels::MeshTraffic planned;
  bool same = true;
  double points() const { return static_cast<double>(element_count(small)); }
  double point_seconds() const { return one.processor / thread_count() / points(); }
};

Measured measure(Model& model, bool training, std::int64_t points, std::int64_t rounds) {
  const int size = ranks().size();
  Measured m;
  m.name = training ? "training pass" : "prediction";
  m.small = near_square(points);
  m.large = {m.small[0] * size, m.small[1]};
  const auto small = model.geometry(m.small, training), large = model.geometry(m.large, training);
  const std::vector<float> input = features(m.small), more = features(m.large);
  const auto pass = [&](const kernels::Geometry& geometry, const std::vector<float>& in) {
    training ? static_cast<void>(model.learn(geometry, in)) : model.predict(geometry, in, nullptr);
  };
  // The same bits first.
  std::vector<float> here(input.size() / 3), reference(input.size() / 3);
  const auto answer = [&](std::vector<float>& to) {
    if (training) {
      to = model.learn(*small, input);
    } else {
      model.predict(*small, input, &to);
    }
  };
  answer(here);
  if (ranks().first()) {
    const AloneForNow by_itself;
    answer(reference);
    m.same = here == reference;
  }
  const Ranks::Traffic before = mesh_ranks().traffic();
  pass(*small, input);
  const Ranks::Traffic after = mesh_ranks().traffic();
  const std::vector<double> counted{static_cast<double>(after.bytes - before.bytes)};
  const std::vector<double> of_all = ranks().gather(std::span(counted));
  m.counted = {static_cast<std::int64_t>(*std::max_element(of_all.begin(), of_all.end())),
               after.gathers - before.gathers, after.swaps - before.swaps};
  const auto plan = training ? kernels::training_traffic : kernels::prediction_traffic;
  m.planned = plan(model.network_shape(), {0, small.get(), nullptr}, size, model.layers());
  std::vector<Seconds> one, all, weak;
  for (std::int64_t round = 0; round < rounds; ++round) {
    one.push_back(alone([&] { pass(*small, input); }));
    all.push_back(together([&] { pass(*small, input); }));
    weak.push_back(together([&] { pass(*large, more); }));
  }
  m.one = median(one);
  m.all = median(all);
  m.weak = median(weak);
  return m;
}

// Gathers and swaps of some sizes, timed.
std::vector<TimedExchange> time_exchanges() {
  std::vector<TimedExchange> timed;
  const auto size = static_cast<std::size_t>(ranks().size());
  for (const std::size_t floats : {16ul, 1024ul, 16384ul, 131072ul, 524288ul}) {
    const std::vector<std::size_t> counts(size, floats);
    const std::vector<float> mine(floats * size, 1.0f);
    std::vector<float> got(floats * size);
    std::vector<double> gathers, swaps;
    for (int i = 0; i < 15; ++i) {
      gathers.push_back(together([&] { mesh_ranks().gather_floats({mine.data(), floats}, counts, got); }).clock);
      swaps.push_back(together([&] { mesh_ranks().swap_floats(mine, counts, got, counts, floats * size); }).clock);
    }
    const double bytes = static_cast<double>(floats * (size - 1) * sizeof(float));
    timed.push_back({{bytes, 1, 0}, median(gathers)});
    timed.push_back({{bytes, 0, 1}, median(swaps)});
  }
  return timed;
}

PassTraffic as_traffic(const kernels::MeshTraffic& t) { return {t.bytes, t.gathers, t.swaps}; }

double modelled(const Measured& m, const NetworkSpeed& network) {
  return pass_seconds(m.points(), m.point_seconds(), as_traffic(m.planned), ranks().size(), network);
}

void print_measured(const Measured& m, const NetworkSpeed& network) {
  const int size = ranks().size();
  fmt::print("\n{}, {} points, {} of one rank\n", m.name, shape_text(m.small),
             m.same ? "the same bits as those" : "DIFFERENT BITS FROM THOSE");
  fmt::print("  one rank {:.3f} s, {} ranks {:.3f} s: {:.2f} times as fast; the model says {:.3f} s\n", m.one.clock,
             size, m.all.clock, m.one.clock / m.all.clock, modelled(m, network));
  fmt::print("  {} points on {} ranks, as many per rank, {:.3f} s: {:.0f} % of one rank's pace\n", shape_text(m.large),
             size, m.weak.clock, 100 * m.one.clock / m.weak.clock);
  fmt::print("  processor time: one rank {:.3f} s, the busiest of {} {:.3f} s ({:.2f} times less), {:.3f} s\n",
             m.one.processor, size, m.all.processor, m.one.processor / m.all.processor, m.weak.processor);
  fmt::print("  {:.3g} MB to each rank, in {} gathers and {} swaps (planned: {:.3g} MB, {} and {})\n",
             static_cast<double>(m.counted.bytes) / 1e6, m.counted.gathers, m.counted.swaps, m.planned.bytes / 1e6,
             m.planned.gathers, m.planned.swaps);
}

// What this many ranks would do on a square grid of this size.
nlohmann::json forecast(const Options& o, const Model& model, const Measured& m, bool training, double points) {
  const Shape mesh = near_square(static_cast<std::int64_t>(points));
  // The plan asks for the places of patches and stencil alone, not for tables as long as the points.
  const auto geometry = model.geometry(mesh, false);
  const auto plan = training ? kernels::training_traffic : kernels::prediction_traffic;
  const kernels::MeshTraffic traffic =
      plan(model.network_shape(), {0, geometry.get(), nullptr}, o.ranks, model.layers());
  const NetworkSpeed network{o.latency * 1e-6, o.bandwidth * 1e9};
  const double count = static_cast<double>(element_count(mesh)), one = m.point_seconds() * count,
               all = pass_seconds(count, m.point_seconds(), as_traffic(traffic), o.ranks, network);
  return {{"points", count},        {"one_rank_s", one},
          {"seconds", all},         {"speedup", one / all},
          {"bytes", traffic.bytes}, {"exchange_s", exchange_seconds(as_traffic(traffic), o.ranks, network)}};
}

void run(const Options& o) {
  if (ranks().alone())
    fail_usage_plainly("measuring a cluster", "there is only one rank",
                       "start it with mpirun, e.g. mpirun -n 2 lano bench cluster");
  set_mesh_ranks(ranks().size());
  set_thread_count(o.threads);
  keep_freed_memory();
  Model model(o.layers);
  for (const std::int64_t points : {o.points, o.training_points})
    kernels::predicted_points(points, mesh_ranks());  // refuses more ranks than pieces
  const std::vector<TimedExchange> timed = time_exchanges();
  const NetworkSpeed network = fit_network(timed, ranks().size());
  const Measured prediction = measure(model, false, o.points, o.rounds),
                 training = measure(model, true, o.training_points, o.rounds);
  if (!ranks().first()) return;
  fmt::print(
      "the paper's model with {} blocks, {} ranks of {} threads, {}; medians of {} rounds, one rank and all in "
      "alternation\n",
      o.layers, ranks().size(), thread_count(), kernels::kernels().name, o.rounds);
  fmt::print(
      "exchanges among these ranks: {:.1f} us per message, {:.2f} GB/s into a rank (fitted to {} kinds of exchange)\n",
      network.latency * 1e6, network.bandwidth / 1e9, timed.size());
  print_measured(prediction, network);
  print_measured(training, network);
  fmt::print(
      "\nmodel: T = t N/R + (gathers ceil(log2 R) + swaps (R-1)) latency + bytes/bandwidth, with t the "
      "processor time per point on one rank.\n"
      "{} such ranks, {:g} us per message, {:g} GB/s into each:\n",
      o.ranks, o.latency, o.bandwidth);
  nlohmann::json forecasts = nlohmann::json::array();
  for (const bool step : {false, true}) {
    for (const double points : {1e7, 1.6e8}) {
      nlohmann::json row = forecast(o, model, step ? training : prediction, step, points);
      row["pass"] = step ? training.name : prediction.name;
      fmt::print(
          "  {:<13} {:>11.0f} points: {:8.2f} s, {:.3f} s of it exchange ({:.3g} MB to each rank); one rank "
          "{:.0f} s: {:.1f} times as fast\n",
          row["pass"].get<std::string>(), points, row["seconds"].get<double>(), row["exchange_s"].get<double>(),
          row["bytes"].get<double>() / 1e6, row["one_rank_s"].get<double>(), row["speedup"].get<double>());
      forecasts.push_back(row);
    }
  }
  fmt::print(
      "It assumes equal ranks that all compute at the pace measured here, exchanges that overlap with nothing and do "
      "not disturb each other,\nand memory for the points of a rank. Reading and writing files is not included.\n");
  if (!o.json) return;
  const auto as_json = [&](const Measured& m) -> nlohmann::json {
    return {{"points", m.points()},
            {"one_rank_s", m.one.clock},
            {"all_s", m.all.clock},
            {"speedup", m.one.clock / m.all.clock},
            {"weak_s", m.weak.clock},
            {"one_rank_processor_s", m.one.processor},
            {"all_processor_s", m.all.processor},
            {"weak_processor_s", m.weak.processor},
            {"model_s", modelled(m, network)},
            {"bytes", m.counted.bytes},
            {"planned_bytes", m.planned.bytes},
            {"gathers", m.counted.gathers},
            {"swaps", m.counted.swaps},
            {"planned_gathers", m.planned.gathers},
            {"planned_swaps", m.planned.swaps},
            {"same_bits", m.same}};
  };
  fmt::print("{}\n", nlohmann::json{{"ranks", ranks().size()},
                                    {"latency_s", network.latency},
                                    {"bandwidth", network.bandwidth},
                                    {"prediction", as_json(prediction)},
                                    {"training", as_json(training)},
                                    {"forecast", forecasts}}
                         .dump());
}

}  // namespace

void add_cluster_bench(CLI::App& app) {
  CLI::App* bench = app.add_subcommand(
      "bench", "measure the engines and the operators on this machine (all but cluster need LibTorch)");
  bench->require_subcommand(1);
  auto o = std::make_shared<Options>();
  CLI::App* command = bench->add_subcommand(
      "cluster", "under mpirun: a mesh divided over the ranks, its scaling, exchanges, and a model of time");
  command->add_option("--points", o->points, "points of the prediction on one rank")
      ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 26))
      ->capture_default_str();
  command->add_option("--training-points", o->training_points, "points of the training pass on one rank")
      ->check(CLI::Range(std::int64_t{4096}, std::int64_t{1} << 26))
      ->capture_default_str();
  command->add_option("--layers", o->layers, "blocks")->check(CLI::Range(1, 64))->capture_default_str();
  command->add_option("--rounds", o->rounds, "repetitions, of which medians are printed")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_option("--model-ranks", o->ranks, "number of ranks that the model of time predicts for")
      ->check(CLI::Range(2, 1 << 16))
      ->capture_default_str();
  command->add_option("--latency", o->latency, "of the network in that model, microseconds per message")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--bandwidth", o->bandwidth, "of the network in that model, GB/s into a rank")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_option("--threads", o->threads, "of each rank")->check(CLI::PositiveNumber)->capture_default_str();
  command->add_flag("--json", o->json, "one JSON object as the last line");
  command->footer("Example: mpirun --bind-to core -n 2 lano bench cluster --threads 1");
  command->callback([o] { run(*o); });
}

}  // namespace lano::cli
