// The arrays of one import, opened and sorted: groups of samples, each from one archive or from files named one by one,
// all of one split or to be divided. Private to src/data.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "data/array_import.h"
#include "data/dataset.h"
#include "data/import_cells.h"
#include "data/import_field.h"
#include "data/import_time.h"

namespace lano {

struct ImportGroup {
  std::optional<Split> split;
  std::vector<std::string> origins;  // files, by their own names
  std::optional<ImportField> output;
  std::vector<ImportField> inputs;
  std::optional<ImportTime> time;
  std::optional<ImportCoordinates> coords, input_coords;
  bool input_box = false;  // inputs on a grid of another resolution, in the same box
  std::optional<ImportCells> cells;

  // On other points than the output; parameters are on none.
  bool elsewhere(const ImportField& input) const {
    if (!input_coords && !input_box) return false;
    return input.ragged() || (!input.shape().empty() && (output->ragged() || input.shape() != output->shape()));
  }
};

// Opens every array the options name, and checks that they belong together. At least one group.
std::vector<ImportGroup> open_import_groups(const ArrayImport& options);

}  // namespace lano
