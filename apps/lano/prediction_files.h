// The files `lano predict` writes, whichever engine computes: .h5, .npy, .npz, and .vts, .vtu or .pvd for ParaView
// (prediction_vtk.cpp).
#pragma once

#include <filesystem>

#include "core/ranks.h"
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

void say_written(const PredictOptions& options, const Query& query, std::int64_t frames, double seconds);

// On several ranks that share the points of each sample: every rank reads, predicts and writes its own points
// (prediction_parts.cpp). can_be_in_parts: whether these options allow it at all.
bool can_be_in_parts(const PredictOptions& options);
void predict_in_parts(const PredictOptions& options, const Query& query, Predictor& predictor);

// The file of a prediction: a dataset of the same samples.
SetDescription predicted_set(const Query& query);
void write_cells(const Query& query, DatasetWriter& writer);

bool is_vtk(const std::filesystem::path& out);
void check_vtk_output(const std::filesystem::path& out, const Query& query, bool force);
void write_vtk_files(const std::filesystem::path& out, const Query& query, const Prediction& prediction);

// The samples of a group of ranks (core/ranks.h); the first groups have them where there are fewer samples than groups.
Share group_samples(const Query& query, int group);

}  // namespace lano::cli
