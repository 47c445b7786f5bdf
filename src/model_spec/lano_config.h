// The switches and sizes of a LANO, as they stand in configs, in model files and in every engine that builds one.
// Their meaning is in docs/model.md.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "core/config.h"
#include "core/set_description.h"

namespace lano {

enum class Bias { outer, sum, none };
enum class Agents { pooled, latent };
enum class Pool { sequence, grid };
enum class Order { hilbert, file };
enum class Stencil { order, neighbours };
enum class Position { coordinates, reference };
enum class Decoder { linear, mlp };
enum class DwcSpacing { physical, index };
enum class Padding { zeros, edge };
enum class FirstWeights { fixed, scaled };
// How a LANO computes: by the fused kernels where they can (float32 on the CPU), or always by plain LibTorch calls.
enum class Engine { fused, composite };
enum class Task { steady, autoregressive, time_conditional };

inline constexpr std::int64_t kMostAgents = 65536, kMostWidth = 65536, kMostLayers = 1024, kMostStateFrames = 1024;

struct LanoConfig {
  std::int64_t layers = 8, heads = 8, width = 128, agents = 128, ffn_ratio = 2;  // L, H, C, M, r
  Bias bias = Bias::outer;
  bool dwc = true;
  bool ffn_stencil = false;  // a second depthwise stencil, on the hidden features of the feed-forward part
  bool exchange = false;     // agents have a place: heads see near ones first, and agents exchange what they gathered
  Agents agent_tokens = Agents::pooled;
  Pool pool = Pool::grid;            // where the geometry has axes; point clouds always pool along their order
  Order order = Order::hilbert;      // of point clouds
  Stencil stencil = Stencil::order;  // of point clouds: along their order, or over the nearest points in space
  Position position = Position::coordinates;
  Decoder decoder = Decoder::linear;
  DwcSpacing dwc_spacing =
      DwcSpacing::physical;          // the stencil keeps its training spacing at other resolutions, or its indices
  Padding padding = Padding::zeros;  // what the stencils read beyond the ends of a mesh; edge: the value at the end
  FirstWeights first_weights = FirstWeights::fixed;  // deviation 0.02 whatever the width, or by the inputs of a map
  double dropout = 0;  // share of the features zeroed after attention and feed-forward in training
  Task task = Task::steady;
  std::int64_t state_frames = 0;  // autoregressive: frames a step starts from; 0 in recipes: those the dataset gives
};

// The frames a step starts from on this dataset: what the recipe says, or the frames the dataset gives.
std::int64_t chosen_state_frames(const LanoConfig& config, const SetDescription& set);
// Frames of a dataset's output that a model is given; they are not evaluated. 0 if it does not step.
std::int64_t given_frames(Task task, std::int64_t state_frames, const SetDescription& set);
// Channels per point of the state that a model of this task takes in addition to its input.
std::int64_t state_channels(Task task, std::int64_t state_frames, std::int64_t output_channels);

// What the data determine: set when a model is made, stored with it.
struct LanoShape {
  std::int64_t dims = 2, input_channels = 0,
               output_channels = 1;   // dx, da, du; autoregressive: the state is in da, too
  std::int64_t axes = 2;              // of the grid or mesh; 0 for point clouds
  std::vector<std::int64_t> patches;  // m1 x m2 (x m3) with product M; empty where pooling is along the sequence
  std::vector<double> order_box;      // clouds in Hilbert order: lower, upper of each axis over the training points
  std::vector<double> reference_box;  // box of the training points in normalised coordinates: for position = reference,
                                      // and for waves in space
  Shape mesh;                         // axes of the training mesh; empty for clouds
  std::vector<bool> periodic;         // of each axis: its last point is followed by its first; empty if none is
  std::vector<double> spacing,
      origin;               // step and first coordinate of each axis where that mesh was a uniform grid, else empty
  std::int64_t points = 0;  // median number of points of the training clouds
  double time_origin = 0, time_step = 1;  // first output time and mean step: the embedding counts steps
};

// Axes of the stencil's taps, three along each: those of the mesh; a cloud's order is one, its space has dims.
std::int64_t stencil_axes(const LanoConfig& config, const LanoShape& shape);

// Whether there is a stencil at all, and whether it reads the nearest points of a cloud.
bool has_stencil(const LanoConfig& config);
bool reads_neighbours(const LanoConfig& config, const LanoShape& shape);

// Binds the switches as model.layers, model.heads, ... for TOML and --set.
void bind_lano_config(Schema& schema, LanoConfig& config);

// Fails with one sentence where sizes do not fit together (width not divisible by heads, ...).
void check_lano_config(const LanoConfig& config);

// The patch grid m1 x ... with product `agents` that is most nearly square in index on a mesh of `shape`: least spread
// of log(n_i/m_i), m_i <= n_i, ties to the larger m1. Fails where no factorisation fits.
std::vector<std::int64_t> choose_patches(std::int64_t agents, const Shape& shape);

// The patch grid nearest to `agents` patches that is about square in index on `shape` (no side twice another).
std::vector<std::int64_t> nearest_patches(std::int64_t agents, const Shape& shape);

// spacing, origin: of a uniform grid, else empty.
LanoShape lano_shape(const LanoConfig& config, const SetDescription& set, const std::vector<double>& spacing = {},
                     const std::vector<double>& origin = {});

// One object with "name": "lano" and all switches, sizes and data-fixed numbers.
nlohmann::json to_json(const LanoConfig& config, const LanoShape& shape);
void lano_from_json(const nlohmann::json& json, LanoConfig& config, LanoShape& shape);

// The same for any model: its switches are the keys of a schema ("model.width" is written as "width").
nlohmann::json architecture_json(const std::string& name, const Schema& switches, const LanoShape& shape);
// Fails where a key is missing or of the wrong type, or the numbers of the shape do not fit together.
void architecture_from_json(const nlohmann::json& json, const Schema& switches, LanoShape& shape);
void check_reference_box(Position position, const LanoShape& shape);

}  // namespace lano
