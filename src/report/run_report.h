// The report of a run, also while it trains or after it was stopped, and of several side by side, from their folders.
#pragma once

#include <filesystem>
#include <vector>

#include "report/comparison.h"
#include "report/html_report.h"
#include "run/run_record.h"

namespace lano {

// An unfinished run: its state, the curves so far and how to resume. Fails if a file is damaged.
ReportContent report_of_run(const std::filesystem::path& run);

// Runs and seed groups in these folders, with the median test sample of each if all use one dataset; what is damaged is
// noted.
ComparisonContent comparison_of_runs(const std::vector<std::filesystem::path>& folders);

}  // namespace lano
