// The description of a dataset: geometry, fields and provenance, without the numbers. Written into dataset files and,
// for the dataset a model was trained on, into model files; made by the benchmark problems and the importers.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/shape.h"

namespace lano {

struct FieldInfo {
  std::string name;
  std::string unit;  // "1" when dimensionless
};

struct SetDescription {
  std::string name;
  Geometry geometry = Geometry::grid;
  Shape shape;                         // axes of the grid or mesh, row-major; [N] for point clouds
  std::vector<FieldInfo> coordinates;  // dx entries
  std::vector<FieldInfo> input;        // da entries, may be empty
  std::vector<FieldInfo> output;       // du entries
  std::vector<FieldInfo> kept;         // dk further fields of a solution, stored with it and not trained on
  std::vector<double> box;             // the physical domain: lower, upper for each axis; 2 dx numbers
  // Structured meshes that hold only the beginning of a whole one's axes (every third of 221 points ends at the 220th):
  // where the last point of each axis lies, the whole axis from 0 to 1. Empty: at its end.
  std::vector<double> span;
  std::vector<bool> periodic;  // of each axis of a grid or mesh: its last point is followed by its first again; empty
                               // where no axis is
  std::vector<double> time;    // T output times, empty when steady
  // Where the times of a dataset became channels (times_as_channels): those times. `output` has the fields of the
  // first, then those of the second, and so on.
  std::vector<double> channel_times;
  std::vector<double> initial_time;  // K times before those: the last K du inputs are the output then, oldest first
  std::int64_t given_frames = 1;     // of the output that precede a roll-out; the others are predicted
  std::string generator;             // JSON: program, parameters and seed, or the import's source

  std::int64_t dims() const { return static_cast<std::int64_t>(coordinates.size()); }
  std::int64_t input_channels() const { return static_cast<std::int64_t>(input.size()); }
  std::int64_t kept_channels() const { return static_cast<std::int64_t>(kept.size()); }
  std::int64_t output_channels() const { return static_cast<std::int64_t>(output.size()); }
  std::int64_t points() const { return element_count(shape); }
};

// The numbers of one sample, to be filled by its maker.
struct SampleArrays {
  std::span<float> coordinates;  // [N, dx]; empty where all samples share theirs
  std::span<float> input;        // [N, da]
  std::span<float> output;       // [N, du], or [T, N, du] where the dataset has times
  std::span<float> kept;         // [N, dk]
};

// {"coordinates": [{"name": ..., "unit": ...}, ...], "input": [...], "output": [...]}
nlohmann::json fields_to_json(const SetDescription& description);
void fields_from_json(const nlohmann::json& json, SetDescription& description);

nlohmann::json to_json(const SetDescription& description);
SetDescription set_description_from_json(const nlohmann::json& json);

// Fails if the span does not fit this description's mesh.
void check_span(const SetDescription& description, std::string_view doing);
// The span of a mesh kept at every stride-th point of each axis, from the first on; empty where it keeps all ends.
std::vector<double> strided_span(const Shape& whole, const std::vector<double>& whole_span, std::int64_t stride);
// Per axis, by how much further along the whole mesh a mesh of this span reaches than the one trained on. Empty: as
// far. No span: that of the training where the mesh has its extents, else the whole.
std::vector<double> stretch_of(const SetDescription& trained, const Shape& mesh, const std::vector<double>& span);

// A dataset with times as a steady one: its output fields at every time, "u at t=0.1", are the channels of one output.
SetDescription times_as_channels(SetDescription set);
// And back; a description without channel_times as it is.
SetDescription channels_as_times(SetDescription set);
// Equal but for rounding.
bool same_times(const std::vector<double>& some, const std::vector<double>& others);

// Whether the input fields are the output at the first time, as their names say: "u at t=0" next to "u".
bool input_is_first_state(const SetDescription& set);

// True where the coordinates [N, dx] of a grid rise uniformly along each axis and depend on no other; then `spacing`
// (if not null) receives the step of each axis (1 for an axis of one point).
bool uniform_grid_spacing(const Shape& shape, std::span<const float> coordinates, std::vector<double>* spacing);

// The same where only some of the points are at hand, those from `first` on: corners are the coordinates of the points
// that say what a uniform grid would be, grid_corners: the first one and the last of each axis.
bool uniform_grid_spacing(const Shape& shape, std::span<const float> corners, std::int64_t first,
                          std::span<const float> coordinates, std::vector<double>* spacing);
std::vector<std::int64_t> grid_corners(const Shape& shape);

// The box of points [N, dims]: lower and upper end of each axis.
std::vector<double> bounds(std::span<const float> coordinates, std::int64_t dims);

}  // namespace lano
