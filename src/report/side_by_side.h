// The same test sample as several operators predict it: the three-way figures of the paper. Input and truth, every
// prediction on the truth's colours, every error on one scale, so that darker is better.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/panel.h"

namespace lano {

struct SeenBy {
  std::string label;  // "Transolver"
  ShownSample sample;
};

struct SideBySide {
  std::string benchmark;
  SetDescription set;        // of time-dependent datasets at the last time
  std::vector<SeenBy> seen;  // ours first; the sample is its median
  std::optional<CellKind> cell_kind{};
};

// For each output channel: input (in the first row), truth and predictions; then the errors.
PanelRows side_by_side_panels(const SideBySide& side, std::int64_t pixels = 260);

std::string render_side_by_side(const SideBySide& side);

}  // namespace lano
