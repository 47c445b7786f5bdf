// `lano experiment table`: the sets, the pairs (train/table.h), the table as Markdown, CSV and a page.
#include "train/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>

#include "command.h"
#include "core/atomic_file.h"
#include "core/child_process.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/model_catalogue.h"
#include "core/nearest.h"
#include "core/threads.h"
#include "core/version.h"
#include "evaluate/evaluation.h"
#include "evaluate/loaded_model.h"
#include "report/model_table.h"
#include "run_options.h"
#include "train/pair_run.h"
#include "train/recipes.h"
#include "train/seeds.h"
#include "train/trainable.h"

namespace lano::cli {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kBenchmarks{"elasticity", "plasticity", "airfoil", "pipe",
                                           "darcy"};  // the paper's, in its order

// What `lano generate` makes of a benchmark for the laptop: sets small enough that minutes of training are epochs, and
// that are made in minutes.
const std::map<std::string, std::vector<std::string>> kLaptopSets{
    {"darcy", {"--resolution", "85", "--stride", "3"}},
    {"elasticity", {}},
    {"plasticity", {"--train", "120", "--test", "20"}},
    {"airfoil", {"--stride", "2", "--train", "200", "--test", "30"}},
    {"pipe", {"--stride", "2", "--train", "400", "--test", "80"}},
    {"burgers", {"--train", "200", "--test", "20"}}};

struct TableOptions {
  TablePlan plan;
  double minutes = -1;
  std::string out, data, configs;
};

std::vector<std::string> catalogue_names() {
  std::vector<std::string> names;
  for (const ModelInfo& model : model_catalogue()) names.emplace_back(model.name);
  return names;
}

void make_missing_sets(const TablePlan& plan) {
  for (const std::string& benchmark : plan.benchmarks) {
    const fs::path file = plan.data / (benchmark + ".h5");
    if (fs::exists(file)) continue;
    std::vector<std::string> words{"generate",    benchmark,   "--out",
                                   file.string(), "--threads", std::to_string(plan.threads)};
    if (plan.preset == "laptop") {
      const auto sizes = kLaptopSets.find(benchmark);
      if (sizes != kLaptopSets.end()) words.insert(words.end(), sizes->second.begin(), sizes->second.end());
    } else {
      words.insert(words.end(), {"--preset", plan.preset});
    }
    make_folder(plan.data);
    fmt::print("== lano {}\n", fmt::join(words, " "));
    const bool made = run_child(program_folder() / "lano", words).good();
    leave_if_interrupted();
    if (!made)
      fail(fmt::format("making '{}'", file.string()), "a set from 'lano generate'", "its failure",
           "see the lines above");
  }
}

std::string machine_text() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "an unknown processor";
}

std::string set_text(const fs::path& path) {
  if (!fs::exists(path)) return "the set is not there any more";
  const DatasetReader reader(path);
  const SetDescription& set = reader.description();
  return fmt::format("{} {}{}; {} training, {} validation and {} test samples", geometry_name(set.geometry),
                     shape_text(set.shape), set.time.empty() ? "" : fmt::format(" at {} times", set.time.size()),
                     reader.indices(Split::train).size(), reader.indices(Split::validation).size(),
                     reader.indices(Split::test).size());
}

ModelCell cell_of(const Pair& pair, const TablePlan& plan) {
  ModelCell cell;
  const auto among = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  const bool planned =
      among(plan.models, pair.model) && among(plan.benchmarks, pair.benchmark);  // else of a former call
  cell.asked = std::max(static_cast<std::int64_t>(pair.seeds.size()), planned ? plan.seeds : 0);
  std::vector<double> errors;
  double seconds = 0;
  for (const PairSeed& s : pair.seeds) {
    if (s.state != "finished") continue;
    if (std::isfinite(s.test_l2)) errors.push_back(s.test_l2);
    cell.parameters = s.parameters;
    cell.peak_bytes = std::max(cell.peak_bytes, s.peak_bytes);
    const double share = pair.epoch_samples > 0 && pair.items > 0
                             ? static_cast<double>(pair.epoch_samples) / static_cast<double>(pair.items)
                             : 1;
    cell.epochs = static_cast<double>(s.epochs) * std::min(1.0, share);
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
  std::stable_sort(table.benchmarks.begin(), table.benchmarks.end(),
                   [&](const auto& a, const auto& b) { return place(kBenchmarks, a) < place(kBenchmarks, b); });
  table.cells.resize(table.models.size() * table.benchmarks.size());
  for (const Pair& pair : pairs) {
    const auto m = static_cast<std::size_t>(place(table.models, pair.model)),
               b = static_cast<std::size_t>(place(table.benchmarks, pair.benchmark));
    table.cells[m * table.benchmarks.size() + b] = cell_of(pair, plan);
  }
  for (const std::string& benchmark : table.benchmarks) table.sets.push_back(set_text(plan.data / (benchmark + ".h5")));
  const int threads = plan.threads > 0 ? plan.threads : thread_count();
  table.about.push_back(plan.minutes > 0
                            ? fmt::format("Budget: {:g} {} of training a pair and seed, validation included; epochs "
                                          "are fixed beforehand from the measured time of a step, "
                                          "so that every schedule ends within it.",
                                          plan.minutes, plan.minutes == 1 ? "minute" : "minutes")
                            : fmt::format("The epochs of the recipes '{}'.", plan.preset));
  table.about.push_back(
      fmt::format("Recipes '{}', {} thread{}, {}. Weights are chosen on validation; the test split is read once a "
                  "seed. Peak memory is that of the whole training process.",
                  plan.preset, threads, threads == 1 ? "" : "s", machine_text()));
  return table;
}

ReportSample judged_sample(const fs::path& run, const DatasetReader& reader, std::int64_t id, SetDescription& set) {
  const LoadedModel model = load_model(run / "model.safetensors");
  const Samples one = reader.read(std::vector<std::int64_t>{id});
  const Evaluation evaluation = evaluate(*model.predictor, reader.description(), one);
  set = reader.description();
  if (set.geometry == Geometry::points) set.shape = {one.points_of(0)};
  const auto copy = [](std::span<const float> values) { return std::vector<float>(values.begin(), values.end()); };
  const std::int64_t channels = set.output_channels(), last = std::min(one.frames, evaluation.prediction.frames) - 1;
  const auto frame = static_cast<std::size_t>(one.points_of(0) * channels),
             from = static_cast<std::size_t>(last) * frame;
  ReportSample sample;
  sample.id = id;
  sample.relative_l2 = evaluation.relative_l2.front();
  sample.coordinates = copy(one.coordinates_of(0, set.dims()));
  sample.truth = copy(one.output_of(0, channels).subspan(from, frame));
  sample.prediction = copy(evaluation.prediction.of(one, 0, channels).subspan(from, frame));
  return sample;
}

// The test sample on which the run's error is the median.
std::int64_t median_sample(const fs::path& run) {
  const auto evaluation = nlohmann::json::parse(read_file(run / "evaluation.json", "reading"));
  std::vector<std::pair<double, std::int64_t>> errors;
  for (const auto& row : evaluation.at("test").at("per_sample"))
    errors.emplace_back(row.at("relative_l2"), row.at("id"));
  std::sort(errors.begin(), errors.end());
  return errors.at(errors.size() / 2).second;
}

// LANO and the best other model on LANO's median sample of each benchmark that both have finished.
std::vector<SideBySide> side_by_side(const ModelTable& table, const std::vector<Pair>& pairs, const TablePlan& plan,
                                     const fs::path& folder) {
  std::vector<SideBySide> samples;
  const auto run_of = [&](const std::string& benchmark, const std::string& model) -> fs::path {
    for (const Pair& pair : pairs) {
      if (pair.benchmark != benchmark || pair.model != model) continue;
      for (const PairSeed& s : pair.seeds) {
        if (s.state == "finished") return pair_folder(folder, benchmark, model) / fmt::format("seed-{}", s.seed);
      }
    }
    return {};
  };
  for (std::size_t b = 0; b < table.benchmarks.size(); ++b) {
    const std::string& benchmark = table.benchmarks[b];
    const std::size_t other = runner_up(table, b);
    const fs::path data = plan.data / (benchmark + ".h5"), mine = run_of(benchmark, "lano");
    if (other == table.models.size() || mine.empty() || !fs::exists(data)) continue;
    SideBySide side{benchmark, model_label("lano"), model_label(table.models[other]), {}, {}, {}};
    const DatasetReader reader(data);
    const std::int64_t id = median_sample(mine);
    side.mine = judged_sample(mine, reader, id, side.set);
    side.other = judged_sample(run_of(benchmark, table.models[other]), reader, id, side.set);
    samples.push_back(std::move(side));
  }
  return samples;
}

void write_table(const TablePlan& plan, const fs::path& folder, bool with_page) {
  const std::vector<Pair> pairs = read_table(folder);
  const ModelTable table = table_of(pairs, plan);
  write_file_atomically(folder / "table.md", model_table_markdown(table));
  write_file_atomically(folder / "table.csv", model_table_csv(table));
  if (!with_page) return;
  write_file_atomically(folder / "index.html", render_model_table(table, side_by_side(table, pairs, plan, folder),
                                                                  fmt::format("lano {}", kVersion)));
  fmt::print("\n{}\ntable: {}\npage:  {}\n", model_table_markdown(table), (folder / "table.md").string(),
             (folder / "index.html").string());
}

void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known, const char* what) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      fail_usage("making a table", fmt::format("{} among {}", what, fmt::join(known, ", ")), fmt::format("'{}'", name),
                 fmt::format("did you mean '{}'?", nearest(name, known)));
    }
  }
}

void run_table(TableOptions& o, const Program& program) {
  TablePlan& plan = o.plan;
  const std::vector<std::string> models = catalogue_names();
  if (plan.models.empty()) plan.models = models;
  check_names(plan.models, models, "models");
  program.need_torch(plan.models != std::vector<std::string>{"lano"});
  program.use_threads(plan.threads);
  plan.configs = find_configs(o.configs);
  plan.data = o.data;
  plan.program = program_folder() / "lano";
  plan.minutes = o.minutes >= 0 ? o.minutes : plan.preset == "laptop" ? 2 : 0;
  if (plan.benchmarks.empty()) plan.benchmarks = kBenchmarks;
  std::vector<std::string> generated;
  for (const auto& [name, words] : kLaptopSets) generated.push_back(name);
  check_names(plan.benchmarks, generated, "benchmarks");
  const InterruptGuard guard;
  check_table(plan, o.out);
  make_missing_sets(plan);
  run_table(plan, o.out, [&](const Pair&) { write_table(plan, o.out, false); });
  write_table(plan, o.out, true);
  if (interrupted()) fmt::print("stopped; the same command goes on\n");
  leave_if_interrupted();
}

}  // namespace

void add_table(CLI::App& experiment, const Program& program) {
  auto o = std::make_shared<TableOptions>();
  o->plan.preset = "laptop";
  o->data = "data";
  CLI::App* command =
      experiment.add_subcommand("table", "every operator on every benchmark under one budget: the paper's Table 2");
  command
      ->add_option("--preset", o->plan.preset,
                   "recipes and sizes of the sets: laptop, paper, or smoke, which proves the road only")
      ->check(CLI::IsMember({"laptop", "paper", "smoke"}))
      ->capture_default_str();
  command->add_option("--models", o->plan.models, "a,b,...; default all ('lano info --models')")->delimiter(',');
  command->add_option("--benchmarks", o->plan.benchmarks, "a,b,...; default elasticity,plasticity,airfoil,pipe,darcy")
      ->delimiter(',');
  command->add_option("--seeds", o->plan.seeds, "trainings of each pair")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--minutes", o->minutes,
                   "of training a pair and seed; 0: the recipes' epochs; default 2 for laptop, else 0")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--data", o->data, "the folder of the sets <benchmark>.h5; those missing are generated into it")
      ->capture_default_str();
  command->add_option("--configs", o->configs,
                      "the folder of the recipes; default ./configs or that of the installation");
  command->add_option("--set", o->plan.overrides, "change one key of every recipe (repeatable)")->take_all();
  command->add_option("--out", o->out, "the folder of the runs, the table and its page")->required();
  command->add_option("--threads", o->plan.threads, "0: all cores")->check(CLI::NonNegativeNumber);
  command->footer(
      "The same command goes on where it was stopped: finished pairs are kept, a stopped one is resumed.\n"
      "Example: lano experiment table --preset laptop --benchmarks darcy,elasticity --data data --out runs/table");
  command->callback([o, program] { run_table(*o, program); });
}

void add_pair(CLI::App& app, const Program& program) {
  struct Words {
    std::string config, run, result;
    std::vector<std::string> overrides;
    double measure = 0;
    int threads = 0;
  };
  auto o = std::make_shared<Words>();
  CLI::App* command = app.add_subcommand("pair", "one training of a table, in a process of its own");
  command->group("");
  command->add_option("--config", o->config)->required();
  command->add_option("--run", o->run)->required();
  command->add_option("--result", o->result)->required();
  command->add_option("--set", o->overrides)->take_all();
  command->add_option("--measure", o->measure);
  command->add_option("--threads", o->threads);
  command->callback([o, program] {
    const TrainConfig config = read_recipe_files({o->config}, o->overrides);
    program.need_torch(needs_torch(config));
    program.use_threads(o->threads);
    keep_freed_memory();
    const InterruptGuard guard;
    const int code = run_pair_child(config, o->run, o->result, o->measure);
    std::fflush(stdout);
    if (code != 0) std::_Exit(code);
  });
}

}  // namespace lano::cli
