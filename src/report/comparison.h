// Several runs on one self-contained HTML page: their learning curves in one chart, the table of `lano runs`, the
// config keys that differ, and a test sample of each as truth | prediction | absolute error.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/html_report.h"
#include "report/run_list.h"

namespace lano {

struct ComparedSample {
  std::size_t run = 0;  // into the collection's runs
  ShownSample sample;
};

struct ComparisonContent {
  RunCollection found;
  SetDescription set;                   // of the samples' fields
  std::vector<ComparedSample> samples;  // of the same dataset, at one time; may be empty
  std::vector<std::string> notes;       // in addition to those of the runs
  std::string footer;
  std::optional<CellKind> cell_kind{};  // of the samples' cells
};

std::string render_comparison(const ComparisonContent& content);

// The curves of the page: for each run its training loss, faint, and the validation of the weights it keeps, in a
// colour and dash that no other run of the first 24 has.
std::vector<Curve> compared_curves(const std::vector<RunSummary>& runs);

}  // namespace lano
