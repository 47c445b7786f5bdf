// The report of a run as one self-contained HTML page: summary, learning curves, distribution of test errors, and
// chosen samples as input | truth | prediction | absolute error with colour bars. No other files, no script, no
// network.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/set_description.h"
#include "evaluate/shown_samples.h"
#include "report/curves.h"

namespace lano {

struct ReportContent {
  std::string title, subtitle = "Linear Attention Neural Operator: report of a training run";
  std::vector<std::pair<std::string, std::string>> headline;  // the few large numbers: label, value
  std::string note;                                           // a sentence under them; may be empty
  std::vector<std::pair<std::string, std::string>> summary;   // the table
  std::vector<Curve> curves;
  std::vector<double> errors;        // relative L2 of each test sample
  std::vector<Curve> steps;          // time-dependent datasets: error at each frame; may be empty
  std::string steps_over = "frame";  // what those are drawn over: "t" where the times are known
  SetDescription set;                // of the samples' fields
  std::vector<ShownSample> samples;
  std::optional<CellKind> cell_kind{};  // of the samples' cells
  std::string config;                   // TOML, shown folded
  std::string footer;
};

std::string render_report(const ReportContent& content);

}  // namespace lano
