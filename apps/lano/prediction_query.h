// What `lano predict` computes: the samples of a dataset or of arrays, with the times of the frames, the cells of their
// mesh and the true output where they are known. Every mistake of a user is found here, before a model computes and
// before a file is written.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/cell_kind.h"
#include "data/dataset.h"
#include "model_spec/lano_config.h"
#include "predict_options.h"
#include "runtime/model_file.h"

namespace lano::cli {

struct Query {
  SetDescription set;      // its times are those of the frames to be predicted
  Samples samples;         // for autoregressive models the output begins with the frames they step from
  std::int64_t steps = 0;  // of an autoregressive model
  bool in_parts = false;   // of the samples only what is known without their numbers: each rank reads its own points

  std::optional<CellKind> cell_kind;
  std::vector<std::vector<std::int64_t>> cells;  // one for all samples or one for each, [cells, corners]

  std::vector<float> known;              // the dataset's output, where it is not in `samples`
  std::int64_t known_frames = 0;         // 0: no true output
  std::vector<std::int64_t> true_frame;  // of each frame to be predicted; -1: not known

  std::int64_t frames() const { return set.time.empty() ? 1 : std::ssize(set.time); }
  double time_of(std::int64_t frame) const { return set.time.empty() ? 0 : set.time[static_cast<std::size_t>(frame)]; }
  std::span<const std::int64_t> cells_of(std::int64_t sample) const;
  // [N, du] of a sample's frame; empty where it is not known.
  std::span<const float> truth(std::int64_t sample, std::int64_t frame) const;
};

// Frames that an autoregressive model steps from; 0 for other models.
std::int64_t state_frames(const ModelFile& model, Task task);

// in_parts: where the dataset has a mesh, its numbers are left to prediction_parts.cpp.
Query read_query(const PredictOptions& options, const ModelFile& model, Task task, bool in_parts);

// The samples of arrays: input fields, first state, coordinates (prediction_arrays.cpp).
Query query_from_arrays(const PredictOptions& options, const ModelFile& model, Task task);

}  // namespace lano::cli
