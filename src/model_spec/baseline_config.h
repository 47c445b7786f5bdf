// The switches and sizes of the operators LANO is compared with (docs/models.md), as they stand in configs and model
// files. Sizes that LANO has too (layers, heads, width, ffn_ratio, dropout, position, task, state_frames) are its keys;
// the rest are below, each used by the models it names.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/config.h"
#include "model_spec/lano_config.h"

namespace lano {

enum class LinearAttentionKind { galerkin, fourier };

struct BaselineConfig {
  std::string name;                                                // of the registry: "transolver", "fno", ...
  std::int64_t layers = 8, heads = 8, width = 128, ffn_ratio = 2;  // L, H, C, r
  double dropout = 0;
  Position position = Position::coordinates;
  Task task = Task::steady;
  std::int64_t state_frames = 1;
  std::int64_t modes = 12;                                        // spectral: Fourier modes kept along each axis
  std::int64_t slices = 64;                                       // transolver: physical states
  LinearAttentionKind attention = LinearAttentionKind::galerkin;  // galerkin, oformer
  std::int64_t experts = 3;                                       // gnot
  std::int64_t basis = 12, tokens = 4;                            // lsm: basis functions and latent tokens
  std::int64_t wavelets = 3;                                      // wmt: polynomials of the multiwavelets
  std::int64_t window = 8, levels = 8;                            // ht-net: points per axis of a window, most levels
  std::int64_t features = 8;                                      // ono: orthogonal features
  std::int64_t latent_grid = 96;  // spectral models on clouds: points per axis of the projection's grid
};

// Binds the keys LANO does not have: model.modes, model.slices, ...
void bind_baseline_config(Schema& schema, BaselineConfig& config);

// `own` with the name and with the sizes it shares with a LANO.
BaselineConfig baseline_config(const std::string& name, const LanoConfig& shared, BaselineConfig own);

// Fails with one sentence where sizes do not fit together.
void check_baseline_config(const BaselineConfig& config);

// One object with "name", all switches, sizes and data-fixed numbers.
nlohmann::json to_json(const BaselineConfig& config, const LanoShape& shape);
void baseline_from_json(const nlohmann::json& json, BaselineConfig& config, LanoShape& shape);

}  // namespace lano
