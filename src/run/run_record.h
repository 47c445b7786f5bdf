// The result of a finished run: its evaluation.json, which training writes last, and in comparisons validation.json,
// the errors of every validation sample. These are the only writer and reader of these files.
#pragma once

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "evaluate/shown_samples.h"
#include "evaluate/simple_baselines.h"

namespace lano {

struct RunRecord {
  std::string model{}, set{};  // names of operator and dataset
  std::int64_t parameters = 0, epochs = 0, best_epoch = 0;
  std::string selection{};       // "best on validation" or "last epoch"
  std::string selection_text{};  // the same in a sentence
  bool averaged = false;         // the weights kept are a running mean (EMA)
  bool early_stop = false;
  std::int64_t seed = 0, train_samples = 0, validation_samples = 0;
  double validation_l2 = std::nan("");  // of the weights kept; NaN without a validation split
  double training_seconds = 0;          // validation included
  std::optional<Evaluation> test{};     // none where the split is missing or was not read
  std::vector<BaselineError> validation_baselines{}, test_baselines{};  // empty where they were not computed

  double test_l2() const { return test ? test->relative_l2.summary.mean : std::nan(""); }
};

std::filesystem::path run_record_file(const std::filesystem::path& run);
bool is_finished(const std::filesystem::path& run);  // has one

// Its evaluation.h5 (run_folder.h: shown_samples_file); a link out of the folder is refused.
ShownSamples read_shown_of_run(const std::filesystem::path& run);

void write_run_record(const std::filesystem::path& run, const RunRecord& record);
// Fails if there is none or it is damaged. Files of older versions can be read too.
RunRecord read_run_record(const std::filesystem::path& run);

// The model file's errors on the validation split, sample by sample.
std::filesystem::path validation_file(const std::filesystem::path& run);
void write_validation(const std::filesystem::path& run, const Evaluation& validation);
Evaluation read_validation(const std::filesystem::path& run);  // fails if it is damaged or missing

}  // namespace lano
