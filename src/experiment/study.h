// A study: one thing is changed step by step (agents, size, resolution, switches, steps in time), each variant is
// trained with the same seeds and the same number of epochs, and its models are evaluated as the study requires.
// Variants are trained by child processes (experiment/recipe_runs.h) into folder/<benchmark>/<variant>/seed-<seed>;
// further evaluations (another resolution, another number of agents) are stored with each run. Finished runs are kept,
// stopped ones resumed. studies.h makes the variants of the paper's experiments, study_page.h shows the outcome.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "core/listener.h"
#include "experiment/recipe_runs.h"

namespace lano {

// Where a number stands in the table and the plot of a study.
struct Place {
  std::string axis;        // what is changed, under the plot: "agents M"; empty: no plot
  std::string series;      // the curve it belongs to, "trained again"
  std::string label;       // "M = 32"
  double x = 0;            // on that axis
  bool reference = false;  // of its series: what the others are compared with
  double paper = std::numeric_limits<double>::quiet_NaN();  // the paper's number, NaN: none
};

// An evaluation of a trained model in addition to the test split of its own dataset.
struct Question {
  std::string name;  // "at-85x85": the key of its result
  Place place;
  std::filesystem::path data;  // whose test split is evaluated
  std::int64_t agents = 0;     // 0: those of the training
};

struct Variant {
  std::string benchmark, name;  // folder/<benchmark>/<name>
  Place place;                  // of its own test error
  TrainConfig recipe;           // with the dataset
  std::string epochs_of{};      // the variant whose epochs it takes; empty: the budget's, or the recipe's
  std::vector<Question> questions{};
  std::vector<Place> also{};  // further places of the same number: a reference stands on several curves
  bool shown = true;          // false: its own test error is not part of the study, only the evaluations are
};

struct StudyPlan {
  std::string name;  // "agents"
  std::vector<Variant> variants;
  std::int64_t seeds = 1;
  double minutes = 0;  // of each variant that does not share another's epochs, per seed; 0: the recipes' epochs
  std::filesystem::path program;  // lano, for the child processes
  int threads = 0;                // 0: all cores
};

// One line of the outcome: the mean over the finished seeds of a variant, as trained or in a further evaluation.
struct StudyRow {
  std::string benchmark;
  Place place;
  std::vector<double> errors;   // relative L2 on test, one per finished seed
  std::vector<double> step_l2;  // time-dependent datasets: mean over seeds at each evaluated frame
  std::int64_t first_frame = 0;
  std::int64_t parameters = 0;
  double passes = 0, seconds = 0;  // over the training samples; of training, per seed
  std::string reason;              // why a seed is missing; empty: none is, or it was not tried yet
  double mean() const;             // NaN where no seed is finished
};

// Fails where a recipe is wrong, two variants have one name, or the folder holds runs of other recipes, minutes,
// threads or datasets.
void check_study(const StudyPlan& plan, const std::filesystem::path& folder);

// Checks, measures all paces, trains and evaluates what is missing; `see` is called after each training. Ends early
// where core/interrupt.h says so. The process must know the models that are evaluated (also those of LibTorch, if there
// are any).
void run_study(const StudyPlan& plan, const std::filesystem::path& folder, const std::function<void()>& see,
               Listener& listener = quiet());

// What the folder holds of the plan, in its order; rows without a finished seed included.
std::vector<StudyRow> read_study(const StudyPlan& plan, const std::filesystem::path& folder);

std::filesystem::path variant_folder(const std::filesystem::path& folder, const Variant& variant);

}  // namespace lano
