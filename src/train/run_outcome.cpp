#include "train/run_outcome.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "train/trainer.h"

namespace lano {

RunOutcome read_outcome(const std::filesystem::path& run) {
  const auto path = run / "evaluation.json";
  try {
    const auto evaluation = nlohmann::json::parse(read_file(path, "reading"));
    const auto& validation = evaluation.at("validation_l2");
    RunOutcome outcome;
    outcome.parameters = evaluation.at("parameters");
    outcome.epochs = evaluation.at("epochs");
    outcome.best_epoch = evaluation.at("best_epoch");
    outcome.training_seconds = evaluation.at("training_seconds");
    outcome.validation_l2 = validation.is_null() ? std::nan("") : validation.get<double>();
    outcome.test_l2 =
        evaluation.contains("test") ? evaluation["test"].at("relative_l2").at("mean").get<double>() : std::nan("");
    return outcome;
  } catch (const nlohmann::json::exception& error) {
    fail(fmt::format("reading '{}'", path.string()), "the evaluation of a run", error.what(),
         "remove the file and go on with the run");
  }
}

std::optional<RunOutcome> finish_run(const TrainConfig& config, const std::filesystem::path& run,
                                     const std::string& title, bool test) {
  if (std::filesystem::exists(run / "config.toml") && read_file(run / "config.toml", "reading") != to_toml(config)) {
    fail(fmt::format("training {}", title), "runs of this recipe and data",
         fmt::format("another in '{}'", run.string()), "choose another --out");
  }
  if (std::filesystem::exists(run / "evaluation.json")) {
    fmt::print("== {}: finished before, kept\n", title);
  } else {
    fmt::print("== {}\n", title);
    TrainOptions options;
    options.resume = true;
    options.test = test;
    if (!train(config, run, options).finished) return std::nullopt;
  }
  return read_outcome(run);
}

}  // namespace lano
