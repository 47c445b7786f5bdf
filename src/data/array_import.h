// Import of users' own arrays: .npy, .npz, .mat, .h5 and .pt files become a dataset file. Given together and divided,
// or separately for train, validation and test; read in blocks of samples, checked, and written in one pass. What was
// understood is in the file (read it with DatasetReader); warnings go to the listener.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/listener.h"
#include "core/shape.h"

namespace lano {

// Where the points of a grid without coordinates lie in its box: at both ends (i/(n-1)), at cell centres ((i+1/2)/n),
// or at the left ends of cells (i/n, a strided subsample of a finer grid).
enum class GridPoints { nodes, centres, left };

enum class ChannelAxis {
  none,
  first,
  last
};  // of input and output arrays: [S, shape...], [S, c, shape...], [S, shape..., c]

enum class SampleAxis { first, last };

// Arrays in the words of a user, each [NAME[UNIT],...=]ARRAY, where ARRAY is a .npy file, FILE:KEY, the key of an array
// in the files of the split, or a list with one array per sample: a folder of .npy files, a key with '*', the name of a
// list in a .pt file.
struct ArrayWords {
  std::vector<std::string> input;         // fields [S, shape...], or parameters [S, k]
  std::string output;                     // [S, shape...], with time and channels one axis more each
  std::vector<std::string> coords;        // one array with the coordinates last, or one array per coordinate
  std::vector<std::string> input_coords;  // of the input's own points; "box": a grid of another resolution
  std::string cells;                      // [cells, corners], or one such array per sample
};

// What is given for one split alone.
struct ImportPart {
  std::vector<std::filesystem::path> files;  // where its keys are looked up
  ArrayWords words;
};

struct ArrayImport {
  std::vector<std::filesystem::path> files;  // where keys are looked up, for every split
  ArrayWords words;
  ImportPart train, validation, test;  // if none is given the samples are divided
  std::optional<Geometry> geometry;    // by default from the coordinates
  GridPoints grid_points = GridPoints::nodes;
  std::vector<double> box;            // lower, upper for each axis; default the unit box, or that of the coordinates
  std::vector<std::string> periodic;  // axes of a grid or mesh by number, from 0, or by the name of a coordinate
  SampleAxis samples = SampleAxis::first;
  ChannelAxis channels = ChannelAxis::none;
  std::vector<std::string> time;         // in any order: first, last or axis=N; a number (dt); the array of the times
  std::int64_t initial = 0;              // number of first frames that become input
  std::optional<std::uint64_t> shuffle;  // seed
  std::optional<std::int64_t> train_count, test_count;
  double validation_share = 0.1;
  std::string cell_kind;  // by default from corners and dimensions
  std::string name = "imported";
};

// Fails in one sentence, and then leaves nothing at `out`. Returns the number of samples.
std::int64_t import_arrays(const ArrayImport& options, const std::filesystem::path& out, Listener& listener = quiet());

}  // namespace lano
