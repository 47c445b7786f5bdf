// What training must know about its samples before the first step, gathered in one pass, in pieces if they do not fit
// in memory.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "data/dataset.h"
#include "normalise/normaliser.h"
#include "train/config.h"

namespace lano {

// The samples that a recipe learns from, and those it is validated on (data.train_on), in the file's order.
std::vector<std::int64_t> training_ids(const DatasetReader& reader, TrainOn train_on);
std::vector<std::int64_t> validation_ids(const DatasetReader& reader, TrainOn train_on);
// What a model file says of that (ModelFile::provenance).
TrainOn trained_on(const nlohmann::json& provenance);

struct SplitSurvey {
  std::vector<std::int64_t> ids;  // of the samples to learn from
  Samples samples;                // all of them where they fit; else empty
  bool in_memory = true;
  Normaliser normaliser;                  // the same bits in memory or not
  std::vector<double> box, network_box;   // of the coordinates: physical, and as the network sees them
  std::vector<double> spacing, origin;    // of the uniform grid all samples share; spacing empty if there is none
  std::vector<float> shared_coordinates;  // [N, dx] where all samples share them, else empty
  std::int64_t median_points = 0;         // of clouds of different sizes, else 0
};

// Fits the normaliser on training samples, which may come in pieces: sample by sample in order, so the pieces change no
// bit.
class NormaliserFit {
 public:
  struct Asked {  // what is to be fitted; other maps are the identity
    bool coordinates = false, input = false, output = false;
    bool increments = false;    // Normaliser::increment
    bool displacement = false;  // Normaliser::mean_mesh
    bool mean_output = false;   // Normaliser::mean_output
  };
  NormaliserFit(const SetDescription& description, const Asked& asked);
  void add(const Samples& samples, bool first_piece);  // shared coordinates count once, whatever the number of samples
  Normaliser result() const;

 private:
  void add_changes(std::span<const float> frames, std::int64_t count);

  SetDescription description_;
  Asked asked_;
  ChannelStatistics coordinates_, input_, output_;
  std::optional<MeanFieldFit> meshes_, outputs_;
  std::vector<double> change_squares_;  // of each output channel, from frame to frame; empty: not needed
  double changes_ = 0;
};

// Fails if the dataset has no output or no training sample.
SplitSurvey survey_split(const DatasetReader& reader, const TrainConfig& config);

}  // namespace lano
