// Fine-tuning: training that begins with the weights of a model file. The model is that of the file, whatever sizes the
// recipe has; the dataset may have another resolution, but must have the same fields.
#pragma once

#include "runtime/model_file.h"
#include "train/config.h"
#include "train/trainable.h"

namespace lano {

// The recipe with the model of the file: its switches, and what its normaliser does.
TrainConfig with_start(TrainConfig config, const ModelFile& start);

// The file's normaliser on a dataset whose mesh may have other extents.
Normaliser start_normaliser(const ModelFile& start, const SetDescription& set);

// Fails with one sentence where the file's tensors are not the model's.
void load_start(const ModelFile& start, Trainable& model, const std::string& path);

// "that of 'FILE', its normaliser kept": for the reader.
std::string start_text(const TrainConfig& config);

}  // namespace lano
