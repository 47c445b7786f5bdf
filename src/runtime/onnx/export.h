// A trained LANO as an ONNX graph (opset 17) with physical inputs and outputs: the normaliser, and for clouds the
// Hilbert order, are in it. Inputs: `coordinates` [B, N, dx], `input` [B, N, da] (where the model has input fields),
// `time` [B] (time_conditional), `state` [B, N, du] (autoregressive; of K > 1 frames [B, K, N, du]); output: `output`
// [B, N, du]. B is free; N is free for clouds and fixed on meshes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/shape.h"
#include "runtime/model_file.h"

namespace lano::onnx {

struct ExportOptions {
  Shape mesh;  // grids and meshes: the axes of the points; empty: those of training
  // Grids: where those points lie, [N, dx]. Empty: the trained grid; for another mesh one with the margins of the
  // trained grid to the box of the domain, counted in steps (middles of cells stay middles of cells), or from its first
  // point to its last where it has none.
  std::vector<float> coordinates{};
  std::int64_t agents = 0;  // another number of agents than in training; 0: as trained
};

struct Exported {
  std::string bytes;
  std::vector<std::string> inputs;  // "coordinates [B, 7225, 2]"
  std::string output;
  std::int64_t agents = 0;  // used
};

// Fails with one sentence where the model is no LANO, is damaged, or the options do not fit it.
Exported export_model(const ModelFile& file, const ExportOptions& options);

}  // namespace lano::onnx
