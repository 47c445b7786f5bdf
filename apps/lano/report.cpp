#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "command.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "core/progress.h"
#include "core/version.h"
#include "data/dataset.h"
#include "report/html_report.h"

namespace lano::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// metrics.csv: epoch,step,learning_rate,train_loss,validation_l2,seconds
std::vector<Curve> read_curves(const fs::path& path) {
  Curve train{"training loss", "#9aa7b2", {}, {}}, validation{"validation relative L2", "#31688e", {}, {}};
  std::istringstream lines(read_file(path, "reading"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    if (cells.size() < 5) fail(fmt::format("reading '{}'", path.string()), "six columns", fmt::format("'{}'", line));
    const double epoch = std::strtod(cells[0].c_str(), nullptr);
    train.x.push_back(epoch);
    train.y.push_back(std::strtod(cells[3].c_str(), nullptr));
    if (!cells[4].empty()) {
      validation.x.push_back(epoch);
      validation.y.push_back(std::strtod(cells[4].c_str(), nullptr));
    }
  }
  return {train, validation};
}

void add_samples(const fs::path& path, ReportContent& content) {
  const DatasetReader reader(path);
  const Samples samples = reader.read(reader.indices("all"));
  const SetDescription& both = reader.description();
  content.set = both;
  const auto du = static_cast<std::size_t>(both.output_channels() / 2);
  content.set.output.resize(du);
  const json picked = json::parse(both.generator).at("picked");
  const auto copy = [](std::span<const float> values) { return std::vector<float>(values.begin(), values.end()); };
  for (std::int64_t s = 0; s < samples.count; ++s) {
    ReportSample sample;
    sample.label = samples.count == 1 ? "sample" : s == 0 ? "best" : s + 1 == samples.count ? "worst" : "median";
    sample.id = picked.at(static_cast<std::size_t>(s)).at("id");
    sample.relative_l2 = picked.at(static_cast<std::size_t>(s)).at("relative_l2");
    sample.coordinates = copy(samples.coordinates_of(s, both.dims()));
    sample.input = copy(samples.input_of(s, both.input_channels()));
    const auto output = samples.output_of(s, both.output_channels());
    for (std::size_t at = 0; at < output.size(); at += 2 * du) {
      const auto point = output.subspan(at, 2 * du);
      sample.truth.insert(sample.truth.end(), point.begin(), point.begin() + static_cast<std::ptrdiff_t>(du));
      sample.prediction.insert(sample.prediction.end(), point.begin() + static_cast<std::ptrdiff_t>(du), point.end());
    }
    content.samples.push_back(std::move(sample));
  }
}

std::string error_text(const json& value) { return value.is_number() ? fmt::format("{:.3e}", value.get<double>()) : "none"; }

// 1104257 -> "1,104,257"
std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::ptrdiff_t at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > 0; at -= 3) digits.insert(static_cast<std::size_t>(at), ",");
  return digits;
}

void fill(const json& evaluation, ReportContent& content) {
  const auto whole = [&](const char* key) { return fmt::format("{}", evaluation.at(key).get<std::int64_t>()); };
  const double seconds = evaluation.at("training_seconds");
  const std::string selection = evaluation.at("selection");
  if (evaluation.contains("test")) {
    const json& test = evaluation["test"];
    content.headline.push_back({"relative L2 on test", error_text(test["relative_l2"]["mean"])});
    for (const json& row : test["per_sample"]) content.errors.push_back(row.at("relative_l2"));
    content.summary.push_back({"Relative L2 on test, mean over samples",
                               fmt::format("{} (deviation {}, median {}, 95 % below {}, worst {})",
                                           error_text(test["relative_l2"]["mean"]), error_text(test["relative_l2"]["deviation"]),
                                           error_text(test["relative_l2"]["median"]), error_text(test["relative_l2"]["q95"]),
                                           error_text(test["relative_l2"]["maximum"]))});
    if (test.contains("relative_h1")) {
      content.summary.push_back({"Relative error of the gradient on test", error_text(test["relative_h1"]["mean"])});
    }
    if (test.contains("per_step")) {
      Curve curve{"mean over test samples", "#31688e", {}, {}};
      const double first = test["per_step"]["first_frame"];
      for (const json& value : test["per_step"]["relative_l2"]) {
        curve.x.push_back(first + static_cast<double>(curve.x.size()));
        curve.y.push_back(value);
      }
      content.steps = {curve};
    }
    content.summary.push_back({"Largest error at a point, mean over samples", error_text(test["max_error"]["mean"])});
    content.summary.push_back({"Test samples", fmt::format("{}, read once, after training", test["samples"].get<std::int64_t>())});
    content.summary.push_back({"Prediction", fmt::format("{:.2f} ms a sample",
                                                         1e3 * test["seconds"].get<double>() / test["samples"].get<double>())});
  }
  content.headline.push_back({"relative L2 on validation", error_text(evaluation.at("validation_l2"))});
  content.headline.push_back({"parameters", grouped(evaluation.at("parameters"))});
  content.headline.push_back({"training time", duration_text(seconds)});
  content.summary.push_back({"Weights kept", fmt::format("{}: epoch {} of {}", selection, whole("best_epoch"), whole("epochs"))});
  content.summary.push_back({"Training samples", fmt::format("{} (and {} for validation)", whole("train_samples"), whole("validation_samples"))});
  content.title = fmt::format("LANO on {}", evaluation.at("set").get<std::string>());
}

void run(const std::string& folder, const std::string& out) {
  const fs::path run_folder(folder);
  if (!fs::is_directory(run_folder)) {
    fail(fmt::format("reporting on '{}'", folder), "the folder of a run", "none", "name the --out of 'lano train'");
  }
  ReportContent content;
  try {
    fill(json::parse(read_file(run_folder / "evaluation.json", "reading")), content);
  } catch (const json::exception& error) {
    fail(fmt::format("reading '{}'", (run_folder / "evaluation.json").string()), "the evaluation of a finished run",
         error.what(), "train again, or resume the run");
  }
  content.curves = read_curves(run_folder / "metrics.csv");
  content.config = read_file(run_folder / "config.toml", "reading");
  if (fs::exists(run_folder / "evaluation.h5")) add_samples(run_folder / "evaluation.h5", content);
  content.footer = fmt::format("lano {}", kVersion);
  const fs::path target = out.empty() ? run_folder / "report" / "index.html" : fs::path(out);
  if (target.has_parent_path()) make_folder(target.parent_path());
  write_file_atomically(target, render_report(content));
  fmt::print("report: {}\n", target.string());
}

}  // namespace

void add_report(CLI::App& app) {
  struct Options {
    std::string folder, out;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("report", "draw the HTML report of a finished run");
  command->add_option("run", options->folder, "the folder of the run")->required();
  command->add_option("--out", options->out, "the page to write; default RUN/report/index.html");
  command->footer("Example: lano report runs/darcy");
  command->callback([options] { run(options->folder, options->out); });
}

}  // namespace lano::cli
