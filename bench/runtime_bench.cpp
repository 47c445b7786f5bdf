#include "bench/runtime_bench.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <cmath>
#include <map>
#include <thread>

#include "bench/onnxruntime_peer.h"
#include "bench/timing.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/random.h"
#include "core/threads.h"
#include "data/npy.h"
#include "evaluate/predictor.h"
#include "kernels/tile_kernels.h"
#include "libtorch/flat_parameters.h"
#include "libtorch/torch_predictor.h"
#include "runtime/onnx/export.h"
#include "runtime/operator.h"

namespace lano::bench {
namespace {

constexpr std::int64_t kSide = 85;
constexpr int kBlock = 3;  // runs in a row of each, before the others have their turn

// Files of the measurement, removed with it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "lano-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) fail("measuring the runtime", "a temporary folder", errno_text(errno));
    path = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

// Fresh weights: how long a prediction takes does not depend on their values.
ModelFile darcy_model(const LanoConfig& config) {
  ModelFile file;
  SetDescription& set = file.set;
  set.name = "darcy";
  set.geometry = Geometry::grid;
  set.shape = {kSide, kSide};
  set.coordinates = {{"x", "1"}, {"y", "1"}};
  set.input = {{"coefficient", "1"}};
  set.output = {{"pressure", "1"}};
  set.box = {0, 1, 0, 1};
  set.generator = "{}";
  for (std::int64_t i = 0; i < kSide * kSide; ++i) {
    for (const std::int64_t at : {i / kSide, i % kSide})
      file.coordinates.push_back((static_cast<float>(at) + 0.5f) / static_cast<float>(kSide));
  }
  std::vector<double> spacing;
  uniform_grid_spacing(set.shape, file.coordinates, &spacing);
  const auto model =
      make_model(to_json(config, lano_shape(config, set, spacing, {file.coordinates[0], file.coordinates[1]})), 1);
  file.architecture = model->architecture();
  file.normaliser = {ChannelMap({0.5, 0.5}, {0.3, 0.3}), ChannelMap({7.5}, {4.5}), ChannelMap({0}, {3e-3})};
  file.provenance = {{"program", "lano bench runtime"}};
  file.weights = copy_weights(*model);
  return file;
}

double largest(std::span<const float> values) {
  double most = 0;
  for (const float value : values) most = std::max(most, static_cast<double>(std::abs(value)));
  return most;
}

double difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size())
    fail("measuring the runtime", "predictions of one size", fmt::format("{} and {}", a.size(), b.size()));
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double apart = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(apart <= most)) most = apart;  // a NaN stays
  }
  return most;
}

// A program from its start to its end, its words thrown away.
double milliseconds_of_program(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  ChildEnd end;
  ChildOptions options;
  options.quiet = true;
  const double time = milliseconds_of([&] { end = run_child(program, arguments, options); });
  if (!end.good())
    fail("measuring the start of lano predict", "exit code 0", fmt::format("{} of '{}'", end.code, program.string()));
  return time;
}

void write_raw(const std::filesystem::path& path, std::span<const float> values) {
  write_file_atomically(path, std::as_bytes(values));
}

}  // namespace

nlohmann::json measure_runtime(const RuntimeCase& c) {
  const LanoConfig config;
  const Folder folder;
  const auto at = [&](const char* name) { return folder.path / name; };
  {
    const ModelFile file = darcy_model(config);
    write_model_file(at("model.safetensors"), file);
    write_file_atomically(at("model.onnx"), onnx::export_model(file, {}).bytes);
    write_raw(at("coordinates"), file.coordinates);
  }
  Samples samples;
  samples.count = 1;
  samples.points = kSide * kSide;
  samples.ids = {0};
  RandomStream stream(1, Purpose::test);
  for (std::int64_t i = 0; i < kSide * kSide; ++i) samples.input.push_back(stream.uniform() < 0.5 ? 3.0f : 12.0f);
  write_raw(at("input"), samples.input);
  write_npy(at("input.npy"), {kSide, kSide}, samples.input);

  set_thread_count(c.threads);
  const Operator op = Operator::load(at("model.safetensors"));
  const auto trained = load_torch_predictor(at("model.safetensors"));
  const SetDescription set = op.set();
  samples.coordinates = op.coordinates();
  std::unique_ptr<OnnxruntimePeer> peer;
  if (!c.onnxruntime.empty()) {
    const auto points = static_cast<int>(samples.points);
    peer = std::make_unique<OnnxruntimePeer>(c.onnxruntime, at("model.onnx"), at("coordinates"), at("input"), points,
                                             c.threads);
  }

  std::vector<float> output(static_cast<std::size_t>(samples.points));
  const auto runtime = [&] { op.predict(samples.coordinates, samples.input, output); };
  Prediction predicted;
  const auto composite = [&] { predicted = trained->predict(set, samples); };
  runtime();
  composite();
  double apart = difference(output, predicted.values);
  if (peer) {
    const std::vector<float> answer = peer->answer();
    apart = std::max({apart, difference(output, answer), difference(predicted.values, answer)});
  }
  const double relative = apart / largest(predicted.values);
  if (!(relative < 1e-4))
    fail("measuring the runtime", "the same prediction from all", fmt::format("a difference of {:.2e}", relative));

  const std::vector<std::string> program{"predict",
                                         at("model.safetensors").string(),
                                         "--input",
                                         at("input.npy").string(),
                                         "--out",
                                         at("output.npy").string(),
                                         "--force",
                                         "--threads",
                                         std::to_string(c.threads)};
  std::vector<double> runtime_ms, onnxruntime_ms, load_ms, start_ms, files_ms;
  // On a busy machine LibTorch may be faster on one thread: it is compared by its best time.
  std::map<int, std::vector<double>> composite_ms{{1, {}}, {c.threads, {}}};
  const auto best = [&] {
    return std::min_element(composite_ms.begin(), composite_ms.end(),
                            [](const auto& a, const auto& b) { return median(a.second) < median(b.second); });
  };
  // Pools spin for a while when their work ends: nothing is timed while another's pool spins.
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(30)); };
  const auto begin = std::chrono::steady_clock::now();
  int rounds = 0;
  for (; rounds < 3 ||
         (rounds < 60 && std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < c.seconds);
       ++rounds) {
    for (int i = 0; i < kBlock; ++i) runtime_ms.push_back(milliseconds_of(runtime));
    pause();
    for (auto& [threads, times] : composite_ms) {
      if (rounds > 0 && median(times) > 1.5 * median(best()->second)) continue;  // hopeless
      set_thread_count(threads);
      for (int i = 0; i < kBlock; ++i) times.push_back(milliseconds_of(composite));
      pause();
    }
    set_thread_count(c.threads);
    if (peer) {
      for (const double time : peer->run(kBlock)) onnxruntime_ms.push_back(time);
      pause();
    }
    for (int i = 0; i < kBlock; ++i)
      load_ms.push_back(milliseconds_of([&] { Operator::load(at("model.safetensors")); }));
    pause();
    const double whole = milliseconds_of_program(c.lano, program);
    const double files = milliseconds_of([&] {
      read_numpy(at("input.npy"), "");
      write_npy(at("output.npy"), {kSide, kSide}, output);
    });
    start_ms.push_back(whole - files);
    files_ms.push_back(files);
  }
  const auto n = static_cast<double>(samples.points), w = static_cast<double>(config.width),
             m = static_cast<double>(config.agents);
  const auto l = static_cast<double>(config.layers), r = static_cast<double>(config.ffn_ratio);
  const double flop = l * (2 * n * w * (4 * w + 2 * r * w) + 8 * n * m * w) + 2 * n * (3 * 2 * w + 2 * w * w);
  const double own = median(runtime_ms), by_torch = median(best()->second);
  nlohmann::json result{{"case", "darcy"},
                        {"points", samples.points},
                        {"parameters", op.parameter_count()},
                        {"threads", c.threads},
                        {"rounds", rounds},
                        {"simd", kernels::kernels().name},
                        {"runtime_ms", own},
                        {"composite_ms", by_torch},
                        {"composite_threads", best()->first},
                        {"onnxruntime_ms", nullptr},
                        {"load_ms", median(load_ms)},
                        {"start_ms", median(start_ms)},
                        {"files_ms", median(files_ms)},
                        {"max_rel_diff", relative},
                        {"gflops", flop / own / 1e6},
                        {"composite_ratio", by_torch / own},
                        {"onnxruntime_ratio", nullptr},
                        {"onnxruntime_version", nullptr}};
  if (peer) {
    result["onnxruntime_ms"] = median(onnxruntime_ms);
    result["onnxruntime_ratio"] = median(onnxruntime_ms) / own;
    result["onnxruntime_version"] = peer->version();
  }
  return result;
}

}  // namespace lano::bench
