// `lano bench cost`: every model and size in its own process, a table, JSON, a plot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>

#include "bench/cost_bench.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/threads.h"
#include "core/version.h"
#include "libtorch/operator_model.h"
#include "model_spec/model_catalogue.h"
#include "report/curves.h"
#include "report/html_parts.h"
#include "report/log_chart.h"
#include "report/png_file.h"
#include "report/sheet.h"
#include "torch_command.h"

namespace lano::cli {
namespace {

using bench::CostCase;
using bench::CostCell;
using bench::Work;
namespace fs = std::filesystem;

const std::vector<std::string> kCompared{"lano", "softmax", "galerkin", "transolver", "fno"};  // where they are built
constexpr const char* kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                    "#e69f00", "#56b4e9", "#7f3c8d", "#000000"};

struct Options {
  CostCase cost;
  std::vector<std::string> models;
  std::int64_t max_points = 65536;
  double budget = bench::kLongestCall;
  int threads = 0;
  bool json = false;
  std::string out, work = "forward";
};

std::string work_name(Work work) { return work == Work::step ? "step" : "forward"; }

double available_bytes() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    if (word != "MemAvailable:") continue;
    double kilobytes = 0;
    file >> kilobytes;
    return 1024 * kilobytes;
  }
  return 1e300;
}

// One cell, measured in a fresh process.
CostCell measured(const Options& o, const CostCase& c, int threads) {
  CostCell cell{c.model, c.work, c.side * c.side, 0, 0, ""};
  std::string text;
  ChildOptions options;
  options.output = &text;
  const ChildEnd end = run_child(
      program_folder() / "lano-torch",
      {"bench", "cell", "--model", c.model, "--work", work_name(c.work), "--side", std::to_string(c.side), "--layers",
       std::to_string(c.layers), "--width", std::to_string(c.width), "--heads", std::to_string(c.heads), "--threads",
       std::to_string(threads), "--budget", fmt::format("{}", o.budget)},
      options);
  const auto answer = nlohmann::json::parse(text, nullptr, false);
  if (!end.good() || !answer.is_object()) {
    cell.left_out = "its process failed: see the lines above, or is there enough memory?";
    return cell;
  }
  cell.ms = answer.at("ms");
  cell.bytes = answer.at("peak_bytes");
  return cell;
}

CostCell cell_of(const Options& o, const CostCase& c, int threads, const std::vector<CostCell>& before) {
  const std::int64_t points = c.side * c.side;
  const CostCell expected = bench::expected_cost(before, points, c.model == "softmax");
  CostCell cell{c.model, c.work, points, 0, 0, ""};
  if (!before.empty() && !before.back().left_out.empty()) {
    cell.left_out = "left out, as the smaller one was";
  } else if (expected.ms / 1e3 > o.budget) {
    cell.left_out = fmt::format("left out: about {:.3g} s expected from the smaller ones, over --budget {:g}",
                                expected.ms / 1e3, o.budget);
  } else if (expected.bytes > 0.7 * available_bytes()) {
    cell.left_out = fmt::format("left out: about {:.2g} GB expected from the smaller ones, over what is free",
                                expected.bytes / 1e9);
  } else {
    return measured(o, c, threads);
  }
  return cell;
}

using Cells = std::map<std::pair<Work, std::string>, std::vector<CostCell>>;

std::string cell_text(const CostCell& cell) {
  return cell.left_out.empty() ? fmt::format("{:.4g} ms, {:.3g} MB", cell.ms, cell.bytes / 1e6) : "-";
}
std::string slope_text(double slope) { return std::isfinite(slope) ? fmt::format("N^{:.2f}", slope) : "-"; }

void print_table(const Cells& cells, Work work, const std::vector<std::string>& models,
                 const std::vector<std::int64_t>& sides) {
  fmt::print("\n{}, batch 1: time, rise of peak memory\n{:<12}", work == Work::step ? "training step" : "forward", "N");
  for (const std::int64_t side : sides) fmt::print(" {:>24}", side * side);
  fmt::print("  {:>8} {:>8}\n", "time", "memory");
  for (const std::string& model : models) {
    const auto& row = cells.at({work, model});
    fmt::print("{:<12}", model);
    for (const CostCell& cell : row) fmt::print(" {:>24}", cell_text(cell));
    fmt::print("  {:>8} {:>8}\n", slope_text(bench::fitted_slope(row, &CostCell::ms)),
               slope_text(bench::fitted_slope(row, &CostCell::bytes)));
  }
}

std::vector<Curve> curves_of(const Cells& cells, Work work, const std::vector<std::string>& models,
                             double CostCell::*value, double unit) {
  std::vector<Curve> curves;
  for (std::size_t m = 0; m < models.size(); ++m) {
    const auto& row = cells.at({work, models[m]});
    Curve curve{fmt::format("{} {}", model_label(models[m]), slope_text(bench::fitted_slope(row, value))),
                kColours[m % std::size(kColours)],
                {},
                {}};
    for (const CostCell& cell : row) {
      if (!cell.left_out.empty()) continue;
      curve.x.push_back(static_cast<double>(cell.points));
      curve.y.push_back(cell.*value / unit);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

struct Panel {
  std::string title, y_label;
  Work work;
  double CostCell::*value;
  double unit;
};

void draw(const Cells& cells, const std::vector<std::string>& models, const fs::path& folder,
          const std::string& about) {
  const std::vector<std::vector<Panel>> panels{{{"forward: time", "ms", Work::forward, &CostCell::ms, 1},
                                                {"training step: time", "ms", Work::step, &CostCell::ms, 1}},
                                               {{"forward: memory", "MB", Work::forward, &CostCell::bytes, 1e6},
                                                {"training step: memory", "MB", Work::step, &CostCell::bytes, 1e6}}};
  std::vector<std::vector<Image>> images;
  std::string html = page_opening("Cost against the number of points", about) + "<div class=\"two\">";
  for (const auto& row : panels) {
    images.emplace_back();
    for (const Panel& panel : row) {
      const auto curves = curves_of(cells, panel.work, models, panel.value, panel.unit);
      images.back().push_back(draw_log_chart({panel.title, "points N", panel.y_label, curves}));
      html += fmt::format("<section class=\"panel\"><h2>{}</h2>{}</section>", panel.title,
                          draw_curves(curves, "points N", panel.y_label, {560, 360, true}));
    }
  }
  make_folder(folder);
  write_file_atomically(folder / "cost.png", encode_png(join_images(images)));
  write_file_atomically(folder / "cost.html", html + "</div>" + page_ending(fmt::format("lano {}", kVersion)));
}

nlohmann::json to_json(const Cells& cells, const Options& o, int threads) {
  nlohmann::json rows = nlohmann::json::array(), slopes = nlohmann::json::array();
  for (const auto& [key, row] : cells) {
    for (const CostCell& cell : row) {
      nlohmann::json one{{"model", cell.model}, {"work", work_name(cell.work)}, {"n", cell.points}};
      if (cell.left_out.empty()) {
        one.update({{"ms", cell.ms}, {"peak_bytes", cell.bytes}});
      } else {
        one["left_out"] = cell.left_out;
      }
      rows.push_back(one);
    }
    slopes.push_back({{"model", key.second},
                      {"work", work_name(key.first)},
                      {"time", bench::fitted_slope(row, &CostCell::ms)},
                      {"memory", bench::fitted_slope(row, &CostCell::bytes)}});
  }
  return {{"threads", threads},    {"layers", o.cost.layers}, {"width", o.cost.width},
          {"heads", o.cost.heads}, {"cells", rows},           {"slopes", slopes}};
}

void run_cost(const Options& o) {
  use_torch_threads(o.threads);
  const int threads = thread_count();
  const std::vector<std::string> known = model_names();
  std::vector<std::string> models = o.models;
  for (const std::string& name : o.models) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail_usage("measuring a cost", fmt::format("models among {}", fmt::join(known, ", ")), fmt::format("'{}'", name),
                 did_you_mean(name, known));
    }
  }
  for (const std::string& name : kCompared) {
    if (o.models.empty() && std::find(known.begin(), known.end(), name) != known.end()) models.push_back(name);
  }
  std::vector<std::int64_t> sides;
  for (const std::int64_t side : {32, 64, 128, 256, 512}) {
    if (side * side <= o.max_points) sides.push_back(side);
  }
  if (sides.empty()) fail_usage("measuring a cost", "--max-points of at least 1024", std::to_string(o.max_points));
  Cells cells;
  for (const Work work : {Work::forward, Work::step}) {
    for (const std::string& model : models) {
      std::vector<CostCell>& row = cells[{work, model}];
      for (const std::int64_t side : sides) {
        CostCase c = o.cost;
        c.model = model;
        c.work = work;
        c.side = side;
        row.push_back(cell_of(o, c, threads, row));
        const CostCell& cell = row.back();
        fmt::print(stderr, "{} {} N = {}: {}\n", model, work_name(work), cell.points,
                   cell.left_out.empty() ? cell_text(cell) : cell.left_out);
      }
    }
  }
  const std::string about = fmt::format(
      "{} layers, width {}, {} heads, 64 agents or slices, 12 modes; a square grid, one sample, {} thread{}. Slopes "
      "are fitted to the three largest sizes.",
      o.cost.layers, o.cost.width, o.cost.heads, threads, threads == 1 ? "" : "s");
  fmt::print("{}\n", about);
  for (const Work work : {Work::forward, Work::step}) print_table(cells, work, models, sides);
  for (const auto& [key, row] : cells) {
    for (const CostCell& cell : row) {
      if (!cell.left_out.empty())
        fmt::print("{} {} at N = {}: {}\n", cell.model, work_name(cell.work), cell.points, cell.left_out);
    }
  }
  if (!o.out.empty()) {
    draw(cells, models, o.out, about);
    write_file_atomically(fs::path(o.out) / "cost.json", to_json(cells, o, threads).dump(1) + "\n");
    fmt::print("plot: {0}/cost.png, {0}/cost.html\n", o.out);
  }
  if (o.json) std::cout << to_json(cells, o, threads).dump() << '\n';
}

void add_sizes(CLI::App* command, const std::shared_ptr<Options>& o) {
  command->add_option("--layers", o->cost.layers, "of every model")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--width", o->cost.width, "of every model")->capture_default_str()->check(CLI::PositiveNumber);
  command->add_option("--heads", o->cost.heads, "of the transformers")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--budget", o->budget, "seconds per call; a cell that is expected to need more is left out")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command->add_option("--threads", o->threads, "0: all cores")->check(CLI::NonNegativeNumber);
}

}  // namespace

void add_bench_cost(CLI::App& bench) {
  auto o = std::make_shared<Options>();
  CLI::App* command = bench.add_subcommand("cost", "time and memory of operators against the number of points");
  command->add_option("--models", o->models, "a,b,...; default lano,softmax,galerkin,transolver,fno")->delimiter(',');
  command->add_option("--max-points", o->max_points, "sizes are 1024, 4096, ... up to this")->capture_default_str();
  command->add_option("--out", o->out, "a folder for cost.png, cost.html and cost.json");
  command->add_flag("--json", o->json, "one JSON object as the last line");
  add_sizes(command, o);
  command->footer("Example: lano bench cost --out bench-cost --threads 2");
  command->callback([o] { run_cost(*o); });

  auto hidden = std::make_shared<Options>();
  CLI::App* cell = bench.add_subcommand("cell", "one cell of 'cost', in this process");
  cell->group("");
  cell->add_option("--model", hidden->cost.model);
  cell->add_option("--work", hidden->work);
  cell->add_option("--side", hidden->cost.side);
  add_sizes(cell, hidden);
  cell->callback([hidden] {
    use_torch_threads(hidden->threads);
    hidden->cost.work = hidden->work == "step" ? Work::step : Work::forward;
    fmt::print(
        "{}\n",
        bench::measure_cost(hidden->cost, thread_count(), std::min(hidden->budget / 4, bench::kRepeatTime)).dump());
  });
}

}  // namespace lano::cli
