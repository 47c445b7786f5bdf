#include "report/run_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/duration.h"
#include "core/error.h"
#include "core/version.h"
#include "evaluate/shown_samples.h"
#include "model_spec/architecture.h"
#include "model_spec/model_catalogue.h"
#include "report/run_list.h"
#include "run/run_folder.h"

namespace lano {
namespace {

namespace fs = std::filesystem;

std::string number_text(double value) { return std::isfinite(value) ? error_text(value) : "none"; }

void add_test(const Evaluation& test, ReportContent& content) {
  const ErrorSummary& l2 = test.relative_l2.summary;
  content.headline.push_back({"relative L2 on test", number_text(l2.mean)});
  content.errors = test.relative_l2.per_sample;
  content.summary.push_back(
      {"Relative L2 on test, mean over samples",
       fmt::format("{} (deviation {}, median {}, 95 % below {}, worst {})", number_text(l2.mean),
                   number_text(l2.deviation), number_text(l2.median), number_text(l2.q95), number_text(l2.maximum))});
  if (test.relative_h1.summary.mean > 0) {
    content.summary.push_back({"Relative error of the gradient on test", number_text(test.relative_h1.summary.mean)});
  }
  if (!test.step_l2.empty()) {
    Curve curve{"mean over test samples", "#31688e", {}, test.step_l2};
    for (std::size_t t = 0; t < test.step_l2.size(); ++t)
      curve.x.push_back(static_cast<double>(test.first_frame) + static_cast<double>(t));
    content.steps = {curve};
  }
  content.summary.push_back({"Largest error at a point, mean over samples", number_text(test.max_error.summary.mean)});
  content.summary.push_back({"Test samples", fmt::format("{}, evaluated once, after training", test.ids.size())});
  if (!test.ids.empty()) {
    content.summary.push_back(
        {"Prediction", fmt::format("{:.2f} ms per sample", 1e3 * test.seconds / static_cast<double>(test.ids.size()))});
  }
}

void fill(const RunRecord& record, ReportContent& content) {
  if (record.test) add_test(*record.test, content);
  content.headline.push_back({"relative L2 on validation", number_text(record.validation_l2)});
  const bool tested = !record.test_baselines.empty();
  const std::vector<BaselineError>& baselines = tested ? record.test_baselines : record.validation_baselines;
  const BaselineError* const best = best_of(baselines);
  const double own = tested ? record.test_l2() : record.validation_l2;
  if (best != nullptr) {
    content.summary.push_back(
        {fmt::format("Simple baselines on {}", tested ? "test" : "validation"), baselines_text(baselines)});
    if (best->relative_l2 < own) {
      content.summary.push_back({"Worse than a baseline", fmt::format("{} has {}: train longer, or use that",
                                                                      best->name, number_text(best->relative_l2))});
    }
  }
  content.headline.push_back({"parameters", grouped_digits(record.parameters)});
  content.headline.push_back({"training time", duration_text(record.training_seconds)});
  content.summary.push_back(
      {"Weights kept", fmt::format("{}: epoch {} of {}{}", record.selection, record.best_epoch, record.epochs,
                                   record.averaged ? ", averaged over the steps before (EMA)" : "")});
  content.note = record.selection_text;
  content.summary.push_back(
      {"Training samples", fmt::format("{} (and {} for validation)", record.train_samples, record.validation_samples)});
  content.title = fmt::format("{} on {}", model_label(record.model), record.set);
  if (!is_lano(record.model)) content.subtitle = "Report of a training run";
}

bool same_fields(const SetDescription& a, const SetDescription& b) {
  const auto same_name = [](const FieldInfo& left, const FieldInfo& right) { return left.name == right.name; };
  return a.name == b.name && a.geometry == b.geometry && (a.geometry == Geometry::points || a.shape == b.shape) &&
         std::equal(a.output.begin(), a.output.end(), b.output.begin(), b.output.end(), same_name);
}

// The median sample of each run that has one; none at all if the runs use different datasets.
void add_median_samples(ComparisonContent& content) {
  for (std::size_t r = 0; r < content.found.runs.size(); ++r) {
    const fs::path path = shown_samples_file(content.found.runs[r].folder);
    if (!fs::exists(path)) continue;
    try {
      ShownSamples picked = at_last_frame(read_shown_of_run(content.found.runs[r].folder));
      if (picked.samples.empty()) continue;
      if (content.samples.empty()) {
        content.set = picked.set;
        content.cell_kind = picked.cell_kind;
      }
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

// The error at each frame over the times of the frames, where they are known.
void put_times(const std::vector<double>& times, ReportContent& content) {
  for (Curve& curve : content.steps) {
    if (curve.x.empty() || curve.x.back() >= static_cast<double>(times.size())) return;
    for (double& x : curve.x) x = times[static_cast<std::size_t>(x)];
  }
  content.steps_over = "t";
}

// Of a run that trains or was stopped: how far it is and what its curves say so far.
ReportContent report_so_far(const fs::path& run) {
  const RunSummary now = read_run_summary(run);
  const bool running = now.state == RunState::running;
  const auto value = [&](const std::string& key, const std::string& otherwise) {
    const auto at = now.config.find(key);
    return at == now.config.end() ? otherwise : at->second;
  };
  const std::string model = value("model.name", "lano"),
                    total = now.total_epochs > 0 ? fmt::format(" of {}", now.total_epochs) : "";
  ReportContent content;
  content.title = fmt::format("{} on {}", model_label(model), now.set.empty() ? "an unknown dataset" : now.set);
  content.subtitle = running ? "Report of a run that is training" : "Report of a run that was stopped";
  content.headline = {{"state", running ? "training" : "stopped"},
                      {"epochs so far", fmt::format("{}{}", now.epochs, total)},
                      {"relative L2 on validation, best so far", number_text(now.validation_l2)}};
  if (now.parameters > 0) content.headline.push_back({"parameters", grouped_digits(now.parameters)});
  content.note = running ? "It is training: the test split is evaluated once, after the last epoch. Update this page "
                           "for newer curves."
                         : fmt::format(
                               "It was stopped after epoch {}{}, so it has no test errors. To resume: "
                               "lano train --resume {}",
                               now.epochs, total, run.string());
  if (now.best_epoch > 0)
    content.summary.push_back(
        {"Best on validation so far",
         fmt::format("epoch {}{}", now.best_epoch, now.weights == "ema" ? ", averaged weights" : "")});
  if (std::isfinite(now.seconds)) content.summary.push_back({"Training time so far", duration_text(now.seconds)});
  if (!now.seed.empty()) content.summary.push_back({"Seed", now.seed});
  for (const std::string& note : now.notes) content.summary.push_back({"Note", note});
  content.curves = learning_curves(now.metrics);
  content.config = read_own_file(config_file(run));
  content.footer = fmt::format("lano {}", kVersion);
  return content;
}

}  // namespace

ReportContent report_of_run(const fs::path& run) {
  std::error_code ignored;
  if (fs::is_regular_file(config_file(run), ignored) && !is_finished(run)) return report_so_far(run);
  ReportContent content;
  fill(read_run_record(run), content);
  if (read_run_summary(run).state == RunState::running)
    content.subtitle = "Report of a run that is training again: the numbers are those of its last end";
  content.curves = learning_curves(read_run_metrics(metrics_file(run)));
  content.config = read_own_file(config_file(run));
  if (fs::exists(shown_samples_file(run))) {
    ShownSamples shown = read_shown_of_run(run);
    put_times(shown.times, content);
    content.set = std::move(shown.set);
    content.samples = std::move(shown.samples);
    content.cell_kind = shown.cell_kind;
  }
  content.footer = fmt::format("lano {}", kVersion);
  return content;
}

ComparisonContent comparison_of_runs(const std::vector<fs::path>& folders) {
  ComparisonContent content;
  content.found = collect_runs(folders, 1);  // the members of a group are one folder below it
  add_median_samples(content);
  content.footer = fmt::format("lano {}", kVersion);
  return content;
}

}  // namespace lano
