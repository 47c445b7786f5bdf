// metrics.csv of a run folder: a row an epoch, its columns found by the names in the header, so that files with more or
// fewer columns read alike.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "report/curves.h"

namespace lano {

// One entry a row in every vector; NaN where a cell is empty or the file has no such column.
struct RunMetrics {
  std::vector<double> epoch, train_loss, validation_l2, validation_ema_l2, seconds;
  std::string damage;  // what was expected and found at the first row that is not whole; the rows before it are kept
};

// Never throws on what the text holds.
RunMetrics parse_run_metrics(std::string_view text);
// The same for a file; fails where it cannot be read or is damaged.
RunMetrics read_run_metrics(const std::filesystem::path& path);

// Training loss, validation, and the validation of the averaged weights where there is any.
std::vector<Curve> learning_curves(const RunMetrics& metrics);

}  // namespace lano
