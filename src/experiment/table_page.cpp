#include "experiment/table_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/threads.h"
#include "core/version.h"
#include "data/dataset.h"
#include "evaluate/loaded_model.h"
#include "evaluate/shown_samples.h"
#include "experiment/paper_numbers.h"
#include "experiment/seeds.h"
#include "model_spec/model_catalogue.h"
#include "report/model_table.h"
#include "report/png_file.h"
#include "report/sheet.h"
#include "run/run_folder.h"
#include "run/run_record.h"

namespace lano {

const std::vector<std::string>& table_benchmarks() {
  static const std::vector<std::string> benchmarks{"elasticity", "plasticity", "airfoil", "pipe",
                                                   "darcy"};  // the paper's, in its order
  return benchmarks;
}

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const ModelInfo& model : model_catalogue()) names.emplace_back(model.name);
  return names;
}

namespace {

namespace fs = std::filesystem;

std::string machine_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "an unknown processor";
}

std::string set_text(const fs::path& path, TrainOn train_on) {
  return fs::exists(path) ? dataset_words(path, train_on) : "the dataset no longer exists";
}

ModelCell cell_of(const Pair& pair, const TablePlan& plan) {
  ModelCell cell;
  cell.paper = paper::table(pair.model, pair.benchmark);
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool planned =
      among(plan.models, pair.model) && among(plan.benchmarks, pair.benchmark);  // else of a former call
  cell.asked = std::max(static_cast<std::int64_t>(pair.seeds.size()), planned ? plan.seeds : 0);
  std::vector<double> errors;
  double seconds = 0;
  for (const SeedOutcome& s : pair.seeds) {
    if (s.state != "finished") continue;
    if (std::isfinite(s.test_l2)) errors.push_back(s.test_l2);
    cell.parameters = s.parameters;
    cell.peak_bytes = std::max(cell.peak_bytes, s.peak_bytes);
    cell.epochs = pair.passes(s);
    seconds += s.training_seconds;
  }
  cell.seeds = static_cast<std::int64_t>(errors.size());
  cell.reason = pair.reason();
  if (errors.empty()) return cell;
  const MeanAndDeviation spread = mean_and_deviation(errors);
  cell.error = spread.mean;
  cell.deviation = spread.deviation;
  cell.epoch_seconds = pair.epoch_seconds();
  cell.training_seconds = seconds / static_cast<double>(errors.size());
  return cell;
}

// Every pair in the folder; LANO below the others, as the paper has it.
ModelTable table_of(const std::vector<Pair>& pairs, const TablePlan& plan) {
  ModelTable table;
  for (const Pair& pair : pairs) {
    if (std::find(table.benchmarks.begin(), table.benchmarks.end(), pair.benchmark) == table.benchmarks.end())
      table.benchmarks.push_back(pair.benchmark);
    if (std::find(table.models.begin(), table.models.end(), pair.model) == table.models.end())
      table.models.push_back(pair.model);
  }
  const auto place = [](const std::vector<std::string>& all, const std::string& name) {
    return std::find(all.begin(), all.end(), name) - all.begin();
  };
  std::vector<std::string> order = catalogue_names();
  std::rotate(order.begin(), order.begin() + 1, order.end());
  std::stable_sort(table.models.begin(), table.models.end(),
                   [&](const auto& a, const auto& b) { return place(order, a) < place(order, b); });
  std::stable_sort(table.benchmarks.begin(), table.benchmarks.end(), [&](const auto& a, const auto& b) {
    return place(table_benchmarks(), a) < place(table_benchmarks(), b);
  });
  table.cells.resize(table.models.size() * table.benchmarks.size());
  for (const Pair& pair : pairs) {
    const auto m = static_cast<std::size_t>(place(table.models, pair.model)),
               b = static_cast<std::size_t>(place(table.benchmarks, pair.benchmark));
    table.cells[m * table.benchmarks.size() + b] = cell_of(pair, plan);
  }
  bool chosen = false;  // by validation
  for (const std::string& benchmark : table.benchmarks) {
    const TrainConfig recipe = pair_recipe(plan, benchmark, table.models.front());
    chosen = chosen || recipe.selection == Selection::best;
    table.sets.push_back(set_text(recipe.data, recipe.train_on));
  }
  const int threads = plan.threads > 0 ? plan.threads : thread_count();
  table.about.push_back(plan.minutes > 0
                            ? fmt::format("Budget: {:g} {} of training per pair and seed, validation included; epochs "
                                          "are fixed beforehand from the measured time of a step, "
                                          "so that every schedule ends within it.",
                                          plan.minutes, plan.minutes == 1 ? "minute" : "minutes")
                            : fmt::format("The epochs of the recipes '{}'.", plan.preset));
  table.about.push_back(fmt::format(
      "Recipes '{}', {} thread{}, {}. {}; the test split is evaluated once per seed. Peak memory is that of the "
      "whole training process.",
      plan.preset, threads, threads == 1 ? "" : "s", machine_text(),
      chosen ? "Weights are chosen on validation" : "The last weights are kept"));
  return table;
}

// One test sample as a run's model sees it, joined to the others.
void add_view(const std::string& model, const fs::path& run, const DatasetReader& reader, std::int64_t id,
              SideBySide& side) {
  ModelFile file = read_model_file(model_file(run));
  if (!can_load(file)) return;  // an operator that an earlier command trained, and this program does not have
  const LoadedModel loaded = load_model(std::move(file), fmt::format("drawing a sample of '{}'", run.string()));
  ShownSamples shown = at_last_frame(shown_samples(*loaded.predictor, reader, {id}));
  side.set = std::move(shown.set);
  side.cell_kind = shown.cell_kind;
  side.seen.push_back({model_label(model), std::move(shown.samples.front())});
}

// The test sample on which the run's error is the median.
std::int64_t median_sample(const fs::path& run) {
  const RunRecord record = read_run_record(run);
  if (!record.test || record.test->ids.empty())
    fail_plainly(fmt::format("drawing a sample of '{}'", run.string()), "the run has no errors on test");
  const std::vector<std::int64_t> shown = ids_to_show(*record.test);
  return shown[shown.size() / 2];
}

// LANO, Transolver and the best other model on LANO's median sample of each benchmark, those that finished.
std::vector<SideBySide> side_by_side(const ModelTable& table, const std::vector<Pair>& pairs, const TablePlan& plan,
                                     const fs::path& folder) {
  std::vector<SideBySide> samples;
  const auto run_of = [&](const std::string& benchmark, const std::string& model) -> fs::path {
    for (const Pair& pair : pairs) {
      if (pair.benchmark != benchmark || pair.model != model) continue;
      for (const SeedOutcome& s : pair.seeds) {
        const fs::path run = seed_folder(pair_folder(folder, benchmark, model), s.seed);
        if (s.state == "finished" && fs::exists(model_file(run))) return run;
      }
    }
    return {};
  };
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    const std::string& benchmark = table.benchmarks[b];
    const std::size_t other = runner_up(table, b);
    const fs::path data = plan.data / (benchmark + ".h5"), mine = run_of(benchmark, "lano");
    if (other == table.models.size() || mine.empty() || !fs::exists(data)) continue;
    SideBySide side;
    side.benchmark = benchmark;
    const DatasetReader reader(data);
    const std::int64_t id = median_sample(mine);
    add_view("lano", mine, reader, id, side);
    for (const std::string& model : {std::string("transolver"), table.models[other]}) {
      const fs::path run = run_of(benchmark, model);
      const bool twice = std::any_of(side.seen.begin(), side.seen.end(),
                                     [&](const SeenBy& one) { return one.label == model_label(model); });
      if (!run.empty() && !twice) add_view(model, run, reader, id, side);
    }
    samples.push_back(std::move(side));
  }
  return samples;
}

void write_tables(const ModelTable& table, const fs::path& folder) {
  write_file_atomically(folder / "table.md", model_table_markdown(table));
  write_file_atomically(folder / "table.csv", model_table_csv(table));
}

}  // namespace

std::string write_table(const TablePlan& plan, const fs::path& folder) {
  const ModelTable table = table_of(read_table(folder), plan);
  write_tables(table, folder);
  return model_table_markdown(table);
}

std::string write_table_page(const TablePlan& plan, const fs::path& folder) {
  const std::vector<Pair> pairs = read_table(folder);
  const ModelTable table = table_of(pairs, plan);
  write_tables(table, folder);
  const std::vector<SideBySide> figures = side_by_side(table, pairs, plan, folder);
  for (const SideBySide& side : figures)
    write_file_atomically(folder / (side.benchmark + ".png"), encode_png(draw_sheet(side_by_side_panels(side, 200))));
  write_file_atomically(folder / "index.html", render_model_table(table, figures, fmt::format("lano {}", kVersion)));
  return model_table_markdown(table);
}

}  // namespace lano
