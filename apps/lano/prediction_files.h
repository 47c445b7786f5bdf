// The files `lano predict` writes, whichever engine computes: .h5, .npy, .npz, and .vts, .vtu or .pvd for ParaView
// (prediction_vtk.cpp).
#pragma once

#include <filesystem>

#include "evaluate/predictor.h"
#include "predict_options.h"
#include "prediction_query.h"

namespace lano::cli {

// Refuses what can be refused before a model is read: an unknown ending, a file that exists.
void check_output_name(const PredictOptions& options);

// The same before the model computes: what the format cannot hold, and numbered files that exist.
void check_output(const PredictOptions& options, const Query& query);

// Writes the prediction and prints a line with its time and points per second.
void write_prediction(const PredictOptions& options, const Query& query, const Prediction& prediction, double seconds);

bool is_vtk(const std::filesystem::path& out);
void check_vtk_output(const std::filesystem::path& out, const Query& query, bool force);
void write_vtk_files(const std::filesystem::path& out, const Query& query, const Prediction& prediction);

}  // namespace lano::cli
