// Import of users' own arrays: .npy, .npz, .mat or .h5 files with one sample a row become a dataset file. Given apart
// for training and test where the files are apart.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/shape.h"

namespace lano {

// Where the points of a grid without coordinates lie in its box: at both ends (i/(n-1)), at cell centres ((i+1/2)/n),
// or at the left ends of cells (i/n, a strided subsample of a finer set).
enum class GridPoints { nodes, centres, left };

enum class ChannelAxis {
  none,
  first,
  last
};  // of input and output arrays: [S, shape...], [S, c, shape...], [S, shape..., c]

struct NumpyImport {
  std::vector<std::filesystem::path>
      train_files;  // .npz, .mat, .h5; may be empty: a set for testing only, or files below
  std::vector<std::filesystem::path> test_files;  // the same; may be empty: then the last `test_count` samples of train
  // Names of arrays in those files, or in their place "FILE.npy" or "FILE:KEY" (see data/array_source.h). Input and
  // coords may be empty.
  std::string input, output, coords;
  Geometry geometry = Geometry::grid;
  GridPoints grid_points = GridPoints::nodes;
  std::vector<double> box;  // lower, upper for each axis; default the unit box
  ChannelAxis channels = ChannelAxis::none;
  std::optional<std::int64_t> train_count, test_count;
  double validation_share = 0.1;
  std::string name = "imported";
};

// Reads everything, checks that shapes agree, writes `out`. Returns the number of samples.
std::int64_t import_numpy(const NumpyImport& options, const std::filesystem::path& out);

}  // namespace lano
