// metrics.csv of a run folder, written and read: a row per epoch. Reading finds columns by the names in the header, so
// that files with more or fewer columns can be read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace lano {

// An epoch as training knows it.
struct EpochMetrics {
  std::int64_t epoch = 0, step = 0;  // counted from 1; steps done so far
  double learning_rate = 0, train_loss = 0;
  double validation_l2 = 0, validation_ema_l2 = 0;  // of the weights and of their running mean; NaN if there is none
  double seconds = 0;
};

std::string metrics_csv(const std::vector<EpochMetrics>& rows);

// One entry per row in every vector; NaN where a cell is empty or the file has no such column.
struct RunMetrics {
  std::vector<double> epoch, train_loss, validation_l2, validation_ema_l2, seconds;
  std::string damage;  // what was expected and found at the first row that is not whole; the rows before it are kept
};

// Never throws on what the text holds.
RunMetrics parse_run_metrics(std::string_view text);
// The same for a file; fails where it cannot be read or is damaged.
RunMetrics read_run_metrics(const std::filesystem::path& path);

}  // namespace lano
