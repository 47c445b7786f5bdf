// Operators on datasets in memory: predictions of many samples at once, and their errors by the code of `lano eval`.
#include "evaluate/evaluation.h"

#include <nlohmann/json.hpp>

#include "bindings.h"
#include "core/error.h"
#include "evaluate/set_fit.h"
#include "evaluate/shown_samples.h"
#include "run/run_record.h"
#include "run/run_summary.h"

namespace lano::python {
namespace {

// An operator that is owned elsewhere.
class BorrowedPredictor final : public Predictor {
 public:
  explicit BorrowedPredictor(const Operator& op) : op_(op) {}
  Task task() const override { return op_.task(); }
  std::int64_t state_frames() const override { return op_.state_frames(); }
  std::int64_t use_agents(std::int64_t) override { return op_.agents(); }
  const std::vector<double>& channel_times() const override { return op_.set().channel_times; }

 protected:
  void apply(std::span<const Operator::Query> queries) override { op_.predict(queries); }

 private:
  const Operator& op_;
};

struct Read {
  SetDescription set;
  Samples samples;
};

Read read(const Operator& op, const HeldDataset& dataset, const std::string& split, const char* doing) {
  const DatasetReader reader = open_dataset(dataset.arrays, op.task());
  check_fits(op.set(), reader.description(), doing);
  return {reader.description(), reader.read(reader.indices(std::string_view(split)))};
}

// [frames, values of all samples, flat]: the number of frames, and [S, frames, N, du].
py::tuple predict_set(const Operator& op, const HeldDataset& dataset, std::int64_t steps) {
  Prediction prediction;
  {
    const py::gil_scoped_release free;
    const Read given = read(op, dataset, "all", "predicting");
    prediction = BorrowedPredictor(op).predict(given.set, given.samples, steps);
  }
  Array flat(static_cast<py::ssize_t>(prediction.values.size()));
  std::copy(prediction.values.begin(), prediction.values.end(), flat.mutable_data());
  return py::make_tuple(prediction.frames, flat);
}

std::string evaluate_set(const Operator& op, const HeldDataset& dataset, const std::string& split, std::int64_t steps) {
  const py::gil_scoped_release free;
  const Read given = read(op, dataset, split, "evaluating a model");
  BorrowedPredictor predictor(op);
  return to_json(judge(predictor, given.set, given.samples, steps).evaluation).dump();
}

nlohmann::json finite_or_null(double value) { return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(); }

std::string read_run(const std::string& folder) {
  if (!is_run_folder(folder))
    fail_plainly("reading the run '" + folder + "'",
                 std::filesystem::exists(folder) ? "that folder holds no run" : "there is nothing at that path",
                 "name the --out of 'lano train' or the run= of lano.fit");
  const RunSummary run = read_run_summary(folder);
  const char* const states[] = {"finished", "stopped", "running"};
  nlohmann::json out{{"folder", run.folder.string()},
                     {"state", states[static_cast<std::size_t>(run.state)]},
                     {"epochs", run.epochs},
                     {"total_epochs", run.total_epochs},
                     {"best_epoch", run.best_epoch},
                     {"weights", run.weights},
                     {"validation_l2", finite_or_null(run.validation_l2)},
                     {"test_l2", finite_or_null(run.test_l2)},
                     {"baseline", run.baseline},
                     {"parameters", run.parameters},
                     {"seconds", finite_or_null(run.seconds)},
                     {"set", run.set},
                     {"config", run.config},
                     {"notes", run.notes}};
  const RunMetrics& m = run.metrics;
  for (const auto& [name, column] :
       {std::pair("epoch", &m.epoch), std::pair("train_loss", &m.train_loss),
        std::pair("validation_l2", &m.validation_l2), std::pair("validation_ema_l2", &m.validation_ema_l2),
        std::pair("seconds", &m.seconds)}) {
    nlohmann::json row = nlohmann::json::array();
    for (const double value : *column) row.push_back(finite_or_null(value));
    out["history"][name] = row;
  }
  if (run.evaluated) {
    const RunRecord record = read_run_record(folder);
    if (record.test) out["test"] = to_json(*record.test);
  }
  return out.dump();
}

}  // namespace

void bind_evaluation(py::module_& module) {
  module.def("predict_set", &predict_set);
  module.def("evaluate_set", &evaluate_set);
  module.def("read_run", &read_run);
}

}  // namespace lano::python
