// Training as `lano train` does it: the same wish gives the same recipe, the same seed the same bytes. Ctrl-C is a wish
// to stop after the current step; the caller decides what follows.
#include <nlohmann/json.hpp>

#include "bindings.h"
#include "core/error.h"
#include "core/interrupt.h"
#include "core/resident_memory.h"
#include "experiment/chosen_recipe.h"
#include "model_spec/model_catalogue.h"
#include "run/run_folder.h"
#include "train/trainable.h"
#include "train/trainer.h"

namespace lano::python {
namespace {

using Clock = std::chrono::steady_clock;

// Tells a Python function (kind, text, done, total): of counted work ten times a second at most.
class Teller final : public Listener {
 public:
  explicit Teller(const py::object& function) : function_(function) {}

  void say(const std::string& line) override { tell("say", line); }
  void warn(const std::string& line) override { tell("warn", line); }
  void begin(const std::string& label, std::int64_t total, const std::string&) override {
    done_ = 0;
    total_ = total;
    tell("begin", label);
    told_ = Clock::now();
  }
  void advance(std::int64_t count, const std::string& detail) override {
    done_ += count;
    if (Clock::now() - told_ < std::chrono::milliseconds(100)) return;
    tell("advance", detail);
    told_ = Clock::now();
  }
  void end(bool complete) override {
    if (complete) tell("end", "");
  }

 private:
  void tell(const char* kind, const std::string& text) {
    const py::gil_scoped_acquire lock;
    if (function_.is_none()) return;
    try {
      function_(kind, text, done_, total_);
    } catch (py::error_already_set& error) {
      // Ctrl-C that reached the function first: the training was told and ends after its step.
      if (!interrupted() || !error.matches(PyExc_KeyboardInterrupt)) throw;
    }
  }

  const py::object& function_;
  std::int64_t done_ = 0, total_ = 0;
  Clock::time_point told_ = Clock::now();
};

// Signals belong to the main thread; the calls of others are not interrupted.
bool in_main_thread() {
  const py::module_ threading = py::module_::import("threading");
  return threading.attr("current_thread")().is(threading.attr("main_thread")());
}

nlohmann::json result_json(const TrainConfig& config, const TrainResult& result, const std::vector<std::string>& said) {
  const auto number = [](double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); };
  nlohmann::json out{{"finished", result.finished},
                     {"interrupted", interrupted()},
                     {"parameters", result.parameters},
                     {"epochs", result.epochs},
                     {"total_epochs", config.epochs},
                     {"best_epoch", result.best_epoch},
                     {"validation_l2", number(result.validation_l2)},
                     {"test_l2", number(result.test_l2)},
                     {"seconds", result.seconds},
                     {"recipe", to_toml(config)},
                     {"because", said}};
  for (const auto& [name, all] : {std::pair("validation_baselines", &result.validation_baselines),
                                  std::pair("test_baselines", &result.test_baselines)}) {
    out[name] = nlohmann::json::object();
    for (const BaselineError& one : *all) out[name][one.name] = number(one.relative_l2);
  }
  return out;
}

// dataset: none where `data` is a file. folder: of the run; scratch: of timed steps. Fails where the folder has a run,
// unless it is to be resumed.
std::string train_run(const HeldDataset* dataset, const std::string& data, const std::vector<std::string>& files,
                      const std::vector<std::string>& overrides, const std::string& from, double minutes,
                      const std::string& folder, const std::string& scratch, bool resume, bool shown, bool baselines,
                      const py::object& progress) {
  const bool main_thread = in_main_thread();
  std::string found;
  {
    const py::gil_scoped_release free;
    const FreedMemoryKept kept;
    std::optional<InterruptGuard> guard;
    if (main_thread) guard.emplace(Process::interpreter);
    RecipeWish wish{files, overrides, data, dataset != nullptr ? dataset->arrays : nullptr, from, minutes};
    if (resume && files.empty()) wish.files = {config_file(folder).string()};
    TrainConfig config = said_recipe(wish);
    if (needs_torch(config)) fail_without_torch("training", config.model);
    Teller teller(progress);
    TrainOptions options;
    options.resume = resume;
    options.shown = shown;
    options.baselines = baselines;
    options.listener = &teller;
    if (!resume) {
      const OwnRecipe chosen = chosen_recipe(wish, config, scratch);
      config = chosen.config;
      options.preface = chosen.because;
    }
    found = result_json(config, train(config, folder, options), options.preface).dump();
  }
  // The interpreter was told of the signal too: what that stopped has been stopped.
  if (PyErr_CheckSignals() != 0) {
    if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) == 0) throw py::error_already_set();
    PyErr_Clear();
  }
  return found;
}

py::list recipe_keys() {
  TrainConfig config;
  Schema schema;
  bind_train_config(schema, config);
  py::list keys;
  for (const Schema::Key& key : schema.keys()) keys.append(py::make_tuple(key.name, key.type, key.help));
  return keys;
}

}  // namespace

void bind_training(py::module_& module) {
  module.def("train", &train_run, py::arg("dataset"), py::arg("data"), py::arg("files"), py::arg("overrides"),
             py::arg("start"), py::arg("minutes"), py::arg("folder"), py::arg("scratch"), py::arg("resume"),
             py::arg("shown"), py::arg("baselines"), py::arg("progress"));
  module.def("recipe_keys", &recipe_keys);
}

}  // namespace lano::python
