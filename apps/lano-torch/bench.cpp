#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

#include "bench/engine_bench.h"
#include "bench/mesh_bench.h"
#include "bench/runtime_bench.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/threads.h"
#include "torch_command.h"

namespace lano::cli {
namespace {

using bench::BenchCase;
using bench::Work;

struct Options {
  BenchCase bench_case;
  int threads = 0;
  bool json = false, fused_only = false;
  double seconds = 40;
  std::string probe_work, probe_engine, onnxruntime;
  std::int64_t points = 1000000;
  std::string geometry = "points";
};

// LibTorch hears of the threads once, at the start: each time it does, it wakes a second pool that spins for a while.
// Later changes go to OpenMP alone, which both engines follow.
int threads_of(const Options& o) {
  use_torch_threads(o.threads);
  return thread_count();
}

std::string work_name(Work work) { return work == Work::step ? "step" : "forward"; }

// Peak bytes of one call, measured in a fresh process of this program.
std::int64_t peak_bytes(Work work, const BenchCase& c, int threads, bool fused) {
  std::string answer;
  ChildOptions options;
  options.output = &answer;
  const ChildEnd end = run_child(
      program_folder() / "lano-torch",
      {"bench", "probe", "--work", work_name(work), "--engine", fused ? "fused" : "composite", "--case", c.name,
       "--batch", std::to_string(c.batch), "--grid", std::to_string(c.grid), "--threads", std::to_string(threads)},
      options);
  if (!end.good() || answer.empty())
    fail_plainly("measuring memory", "the second process failed", "check that there is enough free memory");
  return std::stoll(answer);
}

void print_speed(const nlohmann::json& r) {
  fmt::print("{} {}: batch {}, {} points, {} threads, {}\n", r["case"].get<std::string>(), r["work"].get<std::string>(),
             r["batch"].get<int>(), r["points"].get<int>(), r["threads"].get<int>(), r["simd"].get<std::string>());
  fmt::print("  composite   {:10.1f} ms  (best with {} threads)   peak {:.1f} MB\n", r["composite_ms"].get<double>(),
             r["composite_threads"].get<int>(), r["peak_bytes_composite"].get<double>() / 1e6);
  fmt::print("  fused       {:10.1f} ms  ({:.2f}x)                 peak {:.1f} MB\n", r["fused_ms"].get<double>(),
             r["speedup"].get<double>(), r["peak_bytes_fused"].get<double>() / 1e6);
  fmt::print("  {:.1f} GFLOP/s of sgemm's {:.1f}: roofline {:.3f}\n", r["gflops"].get<double>(),
             r["sgemm_gflops"].get<double>(), r["roofline"].get<double>());
  if (r.contains("muon_ms")) {
    fmt::print("  optimiser   AdamW {:.2f} ms, Muon {:.2f} ms: {:.1f} % of a step with Muon\n",
               r["adamw_ms"].get<double>(), r["muon_ms"].get<double>(), 100 * r["muon_share"].get<double>());
  }
  fmt::print("  largest relative difference {:.1e}; medians of {} alternating rounds\n",
             r["max_rel_diff"].get<double>(), r["rounds"].get<int>());
}

void speed(Work work, const Options& o) {
  const int threads = threads_of(o);
  nlohmann::json result = bench::measure_speed(work, o.bench_case, threads, !o.fused_only, o.seconds);
  if (o.fused_only) {
    fmt::print("{:.2f} ms, {:.1f} GFLOP/s of sgemm's {:.1f}\n", result["fused_ms"].get<double>(),
               result["gflops"].get<double>(), result["sgemm_gflops"].get<double>());
    if (o.json) std::cout << result.dump() << '\n';
    return;
  }
  result["peak_bytes_fused"] = peak_bytes(work, o.bench_case, threads, true);
  result["peak_bytes_composite"] = peak_bytes(work, o.bench_case, threads, false);
  print_speed(result);
  if (o.json) std::cout << result.dump() << '\n';
}

void scale(const Options& o) {
  const int threads = threads_of(o);
  nlohmann::json rows = nlohmann::json::array();
  fmt::print("forward on square grids, M = 128, {} threads\n{:>9} {:>10} {:>10} {:>10} {:>12}\n", threads, "points",
             "ms", "ns/point", "bytes/pt", "composite ms");
  for (const std::int64_t side : {64, 128, 256, 512, 1024}) {
    BenchCase c = o.bench_case;
    c.name = "darcy";
    c.grid = side;
    const std::int64_t n = side * side;
    const bool compared = n <= 65536;
    const nlohmann::json speed = bench::measure_speed(Work::forward, c, threads, compared, o.seconds / 5);
    const double ms = speed["fused_ms"].get<double>(), points = static_cast<double>(n);
    const auto peak = static_cast<double>(peak_bytes(Work::forward, c, threads, true));
    nlohmann::json row{{"n", n},
                       {"ms", ms},
                       {"ns_per_point", ms * 1e6 / points},
                       {"bytes_per_point", peak / points},
                       {"gflops", speed["gflops"]},
                       {"sgemm_gflops", speed["sgemm_gflops"]}};
    if (compared) row.update({{"composite_ms", speed["composite_ms"]}, {"max_rel_diff", speed["max_rel_diff"]}});
    rows.push_back(row);
    fmt::print("{:>9} {:>10.1f} {:>10.1f} {:>10.0f} {:>12}\n", n, ms, row["ns_per_point"].get<double>(),
               row["bytes_per_point"].get<double>(),
               compared ? fmt::format("{:.1f}", row["composite_ms"].get<double>()) : "-");
    std::fflush(stdout);
  }
  fmt::print("time per point, largest over smallest grid: {:.3f}\n",
             rows.back()["ns_per_point"].get<double>() / rows.front()["ns_per_point"].get<double>());
  if (o.json) std::cout << rows.dump() << '\n';
}

void mesh(const Options& o) {
  const nlohmann::json r = bench::measure_mesh(o.points, o.geometry == "points", threads_of(o));
  fmt::print("one prediction of the paper's model, {} {}, {} threads\n", r["points"].get<std::int64_t>(),
             o.geometry == "points" ? "points of a cloud" : "points of a square grid", r["threads"].get<int>());
  fmt::print(
      "  {:.1f} s, {:.0f} points/s\n  {:.2f} GB beyond input and output, {:.0f} bytes per point; the process at most "
      "{:.2f} GB\n",
      r["seconds"].get<double>(), r["points_per_s"].get<double>(), r["peak_bytes"].get<double>() / 1e9,
      r["bytes_per_point"].get<double>(), r["resident_bytes"].get<double>() / 1e9);
  if (o.json) std::cout << r.dump() << '\n';
}

void kernel_table(const Options& o) {
  const nlohmann::json results = bench::measure_kernels();
  for (const auto& entry : results) {
    fmt::print("{:<32}", entry["kernel"].get<std::string>());
    for (const auto& [key, value] : entry.items()) {
      if (value.is_number()) fmt::print("  {} {:.4g}", key, value.get<double>());
    }
    fmt::print("  {}\n", entry["unit"].get<std::string>());
  }
  if (o.json) std::cout << nlohmann::json{{"kernels", results}, {"threads", 1}}.dump() << '\n';
}

// Where onnxruntime-node is: as given, in LANO_ONNXRUNTIME, or next to the presets' folders of this build; empty where
// it is not.
std::filesystem::path onnxruntime_folder(const Options& o, const std::filesystem::path& programs) {
  const char* const said = std::getenv("LANO_ONNXRUNTIME");
  std::filesystem::path folder = (programs / "../../onnxruntime").lexically_normal();
  if (said != nullptr) folder = said;
  if (!o.onnxruntime.empty()) folder = o.onnxruntime;
  const bool there = std::filesystem::exists(folder / "node_modules/onnxruntime-node");
  if (!there && (!o.onnxruntime.empty() || said != nullptr)) {
    fail_usage_plainly("measuring the runtime", "onnxruntime-node is not in node_modules of " + folder.string(),
                       "run scripts/onnxruntime");
  }
  return there ? folder : std::filesystem::path();
}

void runtime(const Options& o) {
  const std::filesystem::path programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  const nlohmann::json r =
      bench::measure_runtime({threads_of(o), o.seconds, onnxruntime_folder(o, programs), programs / "lano"});
  const auto number = [&](const char* key) { return r[key].get<double>(); };
  fmt::print("darcy 85x85, {} parameters, {} threads, {}\n", r["parameters"].get<int>(), r["threads"].get<int>(),
             r["simd"].get<std::string>());
  fmt::print("  runtime                {:8.1f} ms   {:.0f} GFLOP/s\n", number("runtime_ms"), number("gflops"));
  fmt::print("  LibTorch, op by op     {:8.1f} ms   {:.2f}x (best with {} threads)\n", number("composite_ms"),
             number("composite_ratio"), r["composite_threads"].get<int>());
  if (r["onnxruntime_ms"].is_null()) {
    fmt::print("  onnxruntime                   -      not installed (scripts/onnxruntime)\n");
  } else {
    fmt::print("  onnxruntime {:<10} {:8.1f} ms   {:.2f}x\n", r["onnxruntime_version"].get<std::string>(),
               number("onnxruntime_ms"), number("onnxruntime_ratio"));
  }
  fmt::print("  loading the model      {:8.1f} ms\n", number("load_ms"));
  fmt::print("  lano predict           {:8.1f} ms   from its start to its first prediction, without its files\n",
             number("start_ms"));
  if (r.contains("muon_ms")) {
    fmt::print("  optimiser   AdamW {:.2f} ms, Muon {:.2f} ms: {:.1f} % of a step with Muon\n",
               r["adamw_ms"].get<double>(), r["muon_ms"].get<double>(), 100 * r["muon_share"].get<double>());
  }
  fmt::print("  largest relative difference {:.1e}; medians of {} alternating rounds\n", number("max_rel_diff"),
             r["rounds"].get<int>());
  if (o.json) std::cout << r.dump() << '\n';
}

void probe(const Options& o) {
  fmt::print("{}\n", bench::peak_of_this_process(o.probe_work == "step" ? Work::step : Work::forward, o.bench_case,
                                                 threads_of(o), o.probe_engine == "fused"));
}

}  // namespace

void add_bench(CLI::App& app) {
  CLI::App* command = app.add_subcommand("bench", "measure the engines and the operators on this machine");
  command->require_subcommand(1);
  const auto word = [&](const char* name, const char* help, void (*run)(const Options&)) {
    auto o = std::make_shared<Options>();
    CLI::App* sub = command->add_subcommand(name, help);
    sub->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
    sub->add_flag("--json", o->json, "one JSON object (scale: array) as the last line");
    sub->add_option("--seconds", o->seconds, "time to measure for; at least three rounds")->capture_default_str();
    sub->callback([o, run] { run(*o); });
    return std::pair(sub, o);
  };
  for (const auto& [name, help, run] :
       {std::tuple(
            "step", "a training step: forward, loss, backward, clip, AdamW",
            +[](const Options& o) { speed(Work::step, o); }),
        std::tuple(
            "forward", "a prediction", +[](const Options& o) { speed(Work::forward, o); })}) {
    auto [sub, o] = word(name, help, run);
    sub->add_option("--case", o->bench_case.name, "the shapes: the paper's model on one of its benchmarks")
        ->check(CLI::IsMember(bench::case_names()))
        ->capture_default_str();
    sub->add_flag("--fused-only", o->fused_only, "no composite engine, no memory: for profiling");
    sub->add_option("--batch", o->bench_case.batch, "samples; 0: those of the case, 1 for forward")
        ->check(CLI::NonNegativeNumber);
  }
  word("scale", "prediction on grids from 64x64 to 1024x1024", scale);
  {
    auto [sub, o] = word("mesh", "one prediction of the runtime on millions of points: time and memory", mesh);
    sub->add_option("--points", o->points, "number of points; a grid has the next square")
        ->check(CLI::Range(std::int64_t{1000}, std::int64_t{1} << 28))
        ->capture_default_str();
    sub->add_option("--geometry", o->geometry, "points or grid")
        ->check(CLI::IsMember({"points", "grid"}))
        ->capture_default_str();
  }
  word("kernels", "single kernels on one thread, every instruction set", kernel_table);
  add_bench_cost(*command);
  auto [against, peers] = word(
      "runtime", "the runtime without LibTorch against LibTorch and onnxruntime; loading; the start of lano predict",
      runtime);
  peers->threads = 2;
  against->get_option("--threads")->capture_default_str();
  against->add_option("--onnxruntime", peers->onnxruntime,
                      "folder where scripts/onnxruntime installed it; default LANO_ONNXRUNTIME, or build/onnxruntime");
  auto [hidden, o] = word("probe", "peak memory of one call in this process", probe);
  hidden->group("");
  hidden->add_option("--work", o->probe_work);
  hidden->add_option("--engine", o->probe_engine);
  hidden->add_option("--case", o->bench_case.name);
  hidden->add_option("--batch", o->bench_case.batch);
  hidden->add_option("--grid", o->bench_case.grid);
  command->footer("Example: lano bench step --case darcy --threads 2 --json");
}

}  // namespace lano::cli
