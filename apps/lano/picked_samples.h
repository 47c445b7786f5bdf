// The samples of evaluation.h5 (best, median and worst on test) with their predictions, for the reports.
#pragma once

#include <filesystem>
#include <vector>

#include "report/html_report.h"

namespace lano::cli {

struct PickedSamples {
  SetDescription set;
  std::vector<ReportSample> samples;  // best, median, worst; fewer where the test split is smaller
};

PickedSamples read_picked_samples(const std::filesystem::path& path);

}  // namespace lano::cli
