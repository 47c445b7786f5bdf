// What is known about every operator without building it: family, source, cost, geometries, size, the keys it reads.
// For `lano info --models`, for messages and for tables; tests compare it with the models themselves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lano {

struct ModelInfo {
  std::string_view name;    // of the registry, model.name
  std::string_view label;   // as people write it: "U-FNO"
  std::string_view family;  // spectral, transformer, other
  std::string_view paper;
  std::string_view cost;    // of a layer, as at the top of its source; attention in addition to the O(N C^2) maps of
                            // single points. N points, C width, H heads, M agents, G slices, E experts, F features, T
                            // tokens, k wavelets, w window, K modes and n points per axis
  bool grid, mesh, points;  // geometries it takes
  std::int64_t grid_parameters;  // at the standard size, below; 0: does not take it, -1: not counted
  std::int64_t points_parameters;
  std::string_view keys;     // what it reads under [model], besides name
  bool flat_grids = false;   // grids and meshes of two axes, in the plane, alone
  bool flat_points = false;  // points in the plane alone
};

// The standard size: 8 layers, 8 heads, width 128, feed-forward ratio 2, 128 agents, 64 slices, 12 modes, the rest by
// default; two coordinates, one input and one output channel; on an 85x85 grid, and on a cloud of 972 points.
inline constexpr std::int64_t kStandardSide = 85, kStandardPoints = 972;

std::span<const ModelInfo> model_catalogue();        // LANO first, then in the order of the paper's table
const ModelInfo* find_model(std::string_view name);  // nullptr: not in the catalogue
std::string model_label(std::string_view name);      // the label, or the name itself where it has none

// The error for a model other than LANO in a build without LibTorch: its name is wrong, or how to get it.
[[noreturn]] void fail_without_torch(std::string_view doing, std::string_view name);
inline constexpr const char* kTorchAdvice =
    "install libtorch-dev and build lano-torch with: scripts/build release -DLANO_WITH_TORCH=ON";

// Whether `key` ("model.width") says anything to the model; keys of other tables do to every model, but for
// train.engine and train.agents_range, which are LANO's.
bool reads_key(const ModelInfo& model, std::string_view key);

}  // namespace lano
