#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "core/atomic_file.h"
#include "core/error.h"
#include "core/model_catalogue.h"
#include "core/progress.h"
#include "core/version.h"
#include "picked_samples.h"
#include "report/comparison.h"
#include "report/html_report.h"
#include "report/run_metrics.h"
#include "report/sheet.h"

namespace lano::cli {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

std::string number_text(const json& value) { return value.is_number() ? error_text(value.get<double>()) : "none"; }

void fill(const json& evaluation, ReportContent& content) {
  const auto whole = [&](const char* key) { return fmt::format("{}", evaluation.at(key).get<std::int64_t>()); };
  const double seconds = evaluation.at("training_seconds");
  const std::string selection = evaluation.at("selection");
  if (evaluation.contains("test")) {
    const json& test = evaluation["test"];
    content.headline.push_back(
        {"relative L2 on test", number_text(test.value(json::json_pointer("/relative_l2/mean"), json()))});
    for (const json& row : test.at("per_sample")) content.errors.push_back(row.at("relative_l2"));
    content.summary.push_back(
        {"Relative L2 on test, mean over samples",
         fmt::format("{} (deviation {}, median {}, 95 % below {}, worst {})",
                     number_text(test.value(json::json_pointer("/relative_l2/mean"), json())),
                     number_text(test.value(json::json_pointer("/relative_l2/deviation"), json())),
                     number_text(test.value(json::json_pointer("/relative_l2/median"), json())),
                     number_text(test.value(json::json_pointer("/relative_l2/q95"), json())),
                     number_text(test.value(json::json_pointer("/relative_l2/maximum"), json())))});
    if (test.contains("relative_h1")) {
      content.summary.push_back({"Relative error of the gradient on test",
                                 number_text(test.value(json::json_pointer("/relative_h1/mean"), json()))});
    }
    if (test.contains("per_step")) {
      Curve curve{"mean over test samples", "#31688e", {}, {}};
      const double first = test.at("per_step").at("first_frame");
      for (const json& value : test.at("per_step").at("relative_l2")) {
        curve.x.push_back(first + static_cast<double>(curve.x.size()));
        curve.y.push_back(value);
      }
      content.steps = {curve};
    }
    content.summary.push_back({"Largest error at a point, mean over samples",
                               number_text(test.value(json::json_pointer("/max_error/mean"), json()))});
    content.summary.push_back(
        {"Test samples", fmt::format("{}, read once, after training", test.at("samples").get<std::int64_t>())});
    content.summary.push_back({"Prediction", fmt::format("{:.2f} ms a sample", 1e3 * test.at("seconds").get<double>() /
                                                                                   test.at("samples").get<double>())});
  }
  content.headline.push_back({"relative L2 on validation", number_text(evaluation.at("validation_l2"))});
  content.headline.push_back({"parameters", grouped_digits(evaluation.at("parameters"))});
  content.headline.push_back({"training time", duration_text(seconds)});
  const bool averaged = evaluation.value("weights", "raw") == "ema";
  content.summary.push_back(
      {"Weights kept", fmt::format("{}: epoch {} of {}{}", selection, whole("best_epoch"), whole("epochs"),
                                   averaged ? ", averaged over the steps before (EMA)" : "")});
  content.note = evaluation.value("selection_text", "");
  content.summary.push_back({"Training samples", fmt::format("{} (and {} for validation)", whole("train_samples"),
                                                             whole("validation_samples"))});
  const std::string model = evaluation.value("model", "lano");
  content.title = fmt::format("{} on {}", model_label(model), evaluation.at("set").get<std::string>());
  if (model != "lano") content.subtitle = "Report of a training run";
}

void write_page(const fs::path& target, const std::string& page) {
  if (target.has_parent_path()) make_folder(target.parent_path());
  write_file_atomically(target, page);
  fmt::print("report: {}\n", target.string());
}

void report_one(const fs::path& folder, const std::string& out) {
  ReportContent content;
  try {
    fill(json::parse(read_file(folder / "evaluation.json", "reading")), content);
  } catch (const json::exception& error) {
    fail(fmt::format("reading '{}'", (folder / "evaluation.json").string()), "the evaluation of a finished run",
         error.what(), "train again, or resume the run");
  }
  content.curves = learning_curves(read_run_metrics(folder / "metrics.csv"));
  content.config = read_file(folder / "config.toml", "reading");
  if (fs::exists(folder / "evaluation.h5")) {
    PickedSamples picked = read_picked_samples(folder / "evaluation.h5");
    content.set = std::move(picked.set);
    content.samples = std::move(picked.samples);
  }
  content.footer = fmt::format("lano {}", kVersion);
  write_page(out.empty() ? folder / "report" / "index.html" : fs::path(out), render_report(content));
}

bool same_fields(const SetDescription& a, const SetDescription& b) {
  const auto same_name = [](const FieldInfo& left, const FieldInfo& right) { return left.name == right.name; };
  return a.name == b.name && a.geometry == b.geometry && (a.geometry == Geometry::points || a.shape == b.shape) &&
         std::equal(a.output.begin(), a.output.end(), b.output.begin(), b.output.end(), same_name);
}

// The median sample of each run that has one; none at all where the runs are on different sets.
void add_median_samples(ComparisonContent& content) {
  for (std::size_t r = 0; r < content.found.runs.size(); ++r) {
    const fs::path path = content.found.runs[r].folder / "evaluation.h5";
    if (!fs::exists(path)) continue;
    try {
      PickedSamples picked = read_picked_samples(path);
      if (picked.samples.empty()) continue;
      if (content.samples.empty()) content.set = picked.set;
      if (!same_fields(content.set, picked.set)) {
        content.samples.clear();
        return;
      }
      content.samples.push_back({r, std::move(picked.samples[picked.samples.size() / 2])});
    } catch (const std::exception& error) {  // a damaged file hides its own sample only
      content.notes.push_back(
          fmt::format("reading '{}': expected the test samples of the run, found {}", path.string(), error.what()));
    }
  }
}

void report_several(const std::vector<fs::path>& folders, const fs::path& target) {
  ComparisonContent content;
  content.found = collect_runs(folders, 1);  // the members of a group are one folder below it
  add_median_samples(content);
  content.footer = fmt::format("lano {}", kVersion);
  write_page(target, render_comparison(content));
}

void run_report(const std::vector<std::string>& names, const std::string& out) {
  std::vector<fs::path> folders(names.begin(), names.end());
  for (const fs::path& folder : folders) {
    if (!fs::is_directory(folder) || (folders.size() > 1 && !is_run_folder(folder) && !is_seed_group(folder))) {
      fail(fmt::format("reporting on '{}'", folder.string()), "the folder of a run",
           fs::exists(folder) ? "none there" : "none", "name the --out of 'lano train'");
    }
  }
  if (folders.size() > 1) {
    report_several(folders, out.empty() ? "report.html" : out);
  } else if (is_seed_group(folders[0])) {
    report_several(folders, out.empty() ? folders[0] / "report" / "index.html" : fs::path(out));
  } else {
    report_one(folders[0], out);
  }
}

void write_picture(const std::vector<std::string>& names, const std::string& path) {
  const auto samples = fs::path(names[0]) / "evaluation.h5";
  if (names.size() != 1 || !fs::exists(samples))
    fail("drawing a picture", "one finished run with a test split", "none", "name the --out of 'lano train'");
  const PickedSamples picked = read_picked_samples(samples);
  write_file_atomically(path, encode_png(join_images(draw_judged(picked.set, picked.samples))));
  fmt::print("picture: {}\n", path);
}

}  // namespace

void add_report(CLI::App& app) {
  struct ReportOptions {
    std::vector<std::string> folders;
    std::string out, picture;
  };
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "draw the HTML report of a finished run, or compare several");
  command
      ->add_option("runs", options->folders, "the folder of the run, of several runs, or of one 'lano train --seeds'")
      ->required();
  command->add_option("--out", options->out,
                      "the page to write; default RUN/report/index.html, of several runs report.html");
  command->footer("Example: lano report runs/darcy\n         lano report runs/wide runs/deep --out comparison.html");
  command->add_option(
      "--picture", options->picture,
      "of one run: also this PNG, best, median and worst test sample as input | truth | prediction | error");
  command->callback([options] {
    run_report(options->folders, options->out);
    if (!options->picture.empty()) write_picture(options->folders, options->picture);
  });
}

}  // namespace lano::cli
