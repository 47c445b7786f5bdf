// Operators against benchmarks, the paper's Table 2: relative errors with the best in bold and the second best
// underlined, what each cost, and LANO's promotion, 1 - e_LANO / e_best other. As Markdown, as CSV, and as a page with
// LANO and the runner-up side by side.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "report/side_by_side.h"

namespace lano {

struct ModelCell {
  static constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  double error = kNone,
         deviation = kNone;  // relative L2 on test, mean and deviation over the finished seeds; NaN: none
  std::int64_t seeds = 0, parameters = 0, peak_bytes = 0;
  double epochs = 0, epoch_seconds = kNone,
         training_seconds = kNone;  // of a seed; an epoch is one pass over all samples
  std::string reason;               // why a seed has no error; "" if all have one, or it was not requested
  std::int64_t asked = 0;           // seeds requested; if fewer finished, the error is shown with that and has no rank
  double paper = kNone;             // what the paper prints for this pair; NaN: nothing
  bool complete() const { return seeds >= asked; }
};

struct ModelTable {
  std::vector<std::string> models, benchmarks;  // by the names of the registry and of `lano generate`
  std::vector<ModelCell> cells;                 // [models, benchmarks]
  std::vector<std::string> sets;                // of each benchmark in words: "29x29 points, 900 training samples"
  std::vector<std::string> about;               // budget, machine, threads; a sentence each
  const ModelCell& cell(std::size_t model, std::size_t benchmark) const {
    return cells[model * benchmarks.size() + benchmark];
  }
};

// Rows with the least and the second least error of all seeds; models.size() if there is none.
std::pair<std::size_t, std::size_t> best_two(const ModelTable& table, std::size_t benchmark);

// 1 - e_LANO / e_other of the best other model; NaN where either is without an error of all seeds.
double promotion(const ModelTable& table, std::size_t benchmark);

// Its mean over the benchmarks; NaN where one has none.
double average_promotion(const ModelTable& table);

// The row of the best model that is not LANO; models.size() if there is none.
std::size_t runner_up(const ModelTable& table, std::size_t benchmark);

std::string model_table_markdown(const ModelTable& table);
std::string model_table_csv(const ModelTable& table);  // a line per cell

std::string render_model_table(const ModelTable& table, const std::vector<SideBySide>& samples,
                               const std::string& footer);

}  // namespace lano
