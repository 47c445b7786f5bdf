// What a run trains and on what: the dataset, the results of a pass over its training split, and the model file that
// will be written, all but the weights. Made once, before the first step; what does not fit together is refused here.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "data/sample_feed.h"
#include "runtime/model_file.h"
#include "train/split_survey.h"
#include "train/trainable.h"
#include "train/validation.h"

namespace lano {

struct Subject {
  // test: the test split will be evaluated.
  Subject(const TrainConfig& config, bool test);
  Subject(std::shared_ptr<const DatasetReader> set, const TrainConfig& config, bool test);  // whatever data.file says
  Subject(const Subject&) = delete;                                                         // its parts know each other
  Subject& operator=(const Subject&) = delete;

  nlohmann::json architecture(const TrainConfig& config) const;
  // Refuses what the machine cannot hold before it takes it.
  std::unique_ptr<Trainable> make_model(const TrainConfig& config) const;
  // Of the training split; takes its samples where they are in memory.
  std::unique_ptr<SampleFeed> make_feed(const Trainable& model);
  ModelFile about_model(nlohmann::json architecture) const;  // a model file without weights

  std::optional<ModelFile> start;  // train.from: its model, its weights, and on request its normaliser
  std::shared_ptr<const DatasetReader> owned;
  const DatasetReader& reader;
  // The same dataset as a user of the model sees it: with its times as frames where training has them as channels.
  std::shared_ptr<const DatasetReader> shown;
  SplitSurvey survey;
  Validation validation;
};

}  // namespace lano
