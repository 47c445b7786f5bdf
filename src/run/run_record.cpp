#include "run/run_record.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "run/run_folder.h"

namespace lano {
namespace {

using nlohmann::json;

constexpr const char* kWhat = "the evaluation of a finished run";
constexpr const char* kValidation = "errors of validation samples";

json number_or_null(double value) { return std::isfinite(value) ? json(value) : json(); }

double number(const json& value) { return value.is_null() ? std::nan("") : value.get<double>(); }

json to_json(const std::vector<BaselineError>& baselines) {
  json out = json::array();
  for (const BaselineError& one : baselines)
    out.push_back({{"name", one.name}, {"relative_l2", number_or_null(one.relative_l2)}});
  return out;
}

std::vector<BaselineError> baselines_from(const json& from) {
  std::vector<BaselineError> baselines;
  for (const json& one : from) baselines.push_back({one.at("name"), number(one.at("relative_l2"))});
  return baselines;
}

RunRecord record_from(const json& from, const std::string& doing) {
  RunRecord record;
  const auto whole = [&](const json& value) { return whole_number(value, doing, kWhat); };
  const auto whole_or_zero = [&](const char* key) { return from.contains(key) ? whole(from[key]) : 0; };
  record.parameters = whole(from.at("parameters"));
  record.epochs = whole(from.at("epochs"));
  record.best_epoch = whole(from.at("best_epoch"));
  record.training_seconds = number(from.at("training_seconds"));
  record.validation_l2 = number(from.at("validation_l2"));
  record.model = from.value("model", "lano");  // the only one of the first version
  record.set = from.value("set", "");
  record.selection = from.value("selection", "");
  record.selection_text = from.value("selection_text", "");
  record.averaged = from.value("weights", "raw") == "ema";
  record.early_stop = from.value("early_stop", false);
  record.seed = whole_or_zero("seed");
  record.train_samples = whole_or_zero("train_samples");
  record.validation_samples = whole_or_zero("validation_samples");
  if (from.contains("test")) record.test = evaluation_from_json(from["test"], doing);
  if (from.contains("baselines")) {
    record.validation_baselines = baselines_from(from["baselines"].at("validation"));
    record.test_baselines = baselines_from(from["baselines"].at("test"));
  }
  return record;
}

}  // namespace

std::filesystem::path run_record_file(const std::filesystem::path& run) { return run / "evaluation.json"; }

bool is_finished(const std::filesystem::path& run) {
  std::error_code ignored;
  return std::filesystem::exists(run_record_file(run), ignored);
}

ShownSamples read_shown_of_run(const std::filesystem::path& run) {
  check_own_file(shown_samples_file(run));
  return read_shown(shown_samples_file(run));
}

void write_run_record(const std::filesystem::path& run, const RunRecord& record) {
  json out{{"model", record.model},
           {"parameters", record.parameters},
           {"epochs", record.epochs},
           {"best_epoch", record.best_epoch},
           {"selection", record.selection},
           {"weights", record.averaged ? "ema" : "raw"},
           {"selection_text", record.selection_text},
           {"early_stop", record.early_stop},
           {"seed", record.seed},
           {"train_samples", record.train_samples},
           {"validation_samples", record.validation_samples},
           {"validation_l2", number_or_null(record.validation_l2)},
           {"training_seconds", record.training_seconds},
           {"set", record.set}};
  if (record.test) out["test"] = to_json(*record.test);
  if (!record.validation_baselines.empty() || !record.test_baselines.empty()) {
    out["baselines"] = {{"validation", to_json(record.validation_baselines)}, {"test", to_json(record.test_baselines)}};
  }
  write_file_atomically(run_record_file(run), out.dump(1) + "\n");
}

RunRecord read_run_record(const std::filesystem::path& run) {
  const auto path = run_record_file(run);
  const std::string doing = fmt::format("reading '{}'", path.string());
  try {
    return record_from(parse_json(read_own_file(path), doing, kWhat), doing);
  } catch (const json::exception& error) {
    fail(doing, kWhat, json_reason(error), "remove the file and resume the run");
  }
}

std::filesystem::path validation_file(const std::filesystem::path& run) { return run / "validation.json"; }

void write_validation(const std::filesystem::path& run, const Evaluation& validation) {
  write_file_atomically(validation_file(run), to_json(validation).dump(1) + "\n");
}

Evaluation read_validation(const std::filesystem::path& run) {
  const auto path = validation_file(run);
  const std::string doing = fmt::format("reading '{}'", path.string());
  const char* const advice = "remove the file and give the same command again";
  try {
    Evaluation validation = evaluation_from_json(parse_json(read_own_file(path), doing, kValidation), doing);
    if (!validation.relative_l2.known()) fail_plainly(doing, "it has no errors of validation samples", advice);
    return validation;
  } catch (const json::exception& error) {
    fail(doing, kValidation, json_reason(error), advice);
  }
}

}  // namespace lano
