// Samples of one split as every network takes them: coordinates and input normalised, truth in physical values, the
// points of clouds in the order the model wants. Clouds of different sizes are packed into batches, never padded.
#pragma once

#include <span>
#include <vector>

#include "core/set_description.h"
#include "data/dataset.h"
#include "normalise/normaliser.h"

namespace lano {

// One item of training or evaluation: a sample, and for time-dependent datasets one of its frames.
struct Item {
  std::int64_t row = 0, frame = 0;
};

// Some samples, their points one after the other: P of all together. On meshes of one shape, on clouds of one size, or
// on clouds of different sizes.
struct FieldBatch {
  std::vector<std::int64_t> sizes;  // points of each sample
  bool packed = false;              // sizes may differ
  bool shared_coordinates = false;  // one set of coordinates serves all samples
  std::vector<float> coordinates;   // [P, dx], normalised; shared: [N, dx]
  std::vector<float> input;         // [P, da], normalised; da may be 0
  Shape mesh;                       // axes of the grid or mesh, row-major; empty for clouds
  std::vector<double> spacing;      // physical step of each axis of a uniform grid, else empty
  std::vector<double> origin;       // physical coordinate of its first point
  std::vector<double> stretch{};    // of a mesh against the trained one (core/set_description.h); empty in training
  std::vector<double> times{};      // of each sample, physical; empty for steady datasets

  std::int64_t samples() const { return static_cast<std::int64_t>(sizes.size()); }
  std::int64_t points() const;  // P
};

class SampleSet {
 public:
  // order_box: the box of the Hilbert curve along which the model wants the points of a cloud; empty: in their own
  // order.
  SampleSet(Samples samples, const SetDescription& description, const Normaliser& normaliser,
            const std::vector<double>& order_box);

  std::int64_t size() const { return size_; }
  std::int64_t frames() const { return frames_; }
  const Shape& mesh() const { return mesh_; }
  const std::vector<double>& spacing() const { return spacing_; }  // of a uniform grid, else empty
  std::int64_t points_of(std::int64_t row) const { return first_[at(row) + 1] - first_[at(row)]; }

  // Coordinates, input fields and time of the items; rows of this SampleSet, not ids in the file.
  FieldBatch batch(const std::vector<Item>& items) const;
  std::vector<float> truth(const std::vector<Item>& items) const;  // [P, du], physical

 private:
  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::int64_t size_, frames_, dims_, inputs_, outputs_;
  std::vector<std::int64_t> first_;  // point of each sample, and the end
  bool packed_, shared_;
  Shape mesh_;  // empty for point clouds
  std::vector<double> spacing_, origin_, time_;
  std::vector<float> coordinates_, input_, output_;  // [1 or S, N, dx], [S, N, da], [S, T, N, du]
};

}  // namespace lano
