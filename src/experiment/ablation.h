// The ablation table: the same training with one switch changed at a time, over several seeds, under one budget. Runs
// that are finished are not run again and unfinished ones are resumed, so a stopped table goes on where it was.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/listener.h"
#include "train/config.h"

namespace lano {

struct AblationRow {
  std::string name;                  // "reference", "without bias", ...
  std::vector<std::string> changes;  // "model.bias=none", ...
  std::vector<double> test_l2;       // one a seed
  std::int64_t parameters = 0;
};

// The paper's rows (reference, without bias, without DWC, without both, latent agents) and ours (sum instead of outer
// bias, sequence instead of grid pooling, file instead of Hilbert order), those that make a difference on this
// geometry.
std::vector<AblationRow> ablation_rows(Geometry geometry, const LanoConfig& reference);

// Trains every row with seeds config.seed .. config.seed + seeds - 1 into folder/<row>-<seed>, writes
// folder/ablation.md and ablation.csv after each run, and returns the filled rows.
std::vector<AblationRow> run_ablation(const TrainConfig& config, std::int64_t seeds,
                                      const std::filesystem::path& folder, Listener& listener = quiet());

// The table as Markdown: mean, deviation over seeds, change against the reference.
std::string ablation_markdown(const std::vector<AblationRow>& rows);
std::string ablation_csv(const std::vector<AblationRow>& rows);

}  // namespace lano
