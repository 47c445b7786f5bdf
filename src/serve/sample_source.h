// Test samples of datasets beside the models, for the page: problems the model has never seen, with their solutions.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "serve/served_model.h"

namespace lano::serve {

class SampleSource {
 public:
  explicit SampleSource(const std::vector<std::string>& files);

  std::int64_t count(const ServedModel& model) const;  // test samples of the first dataset that fits
  // {"input": ..., "coordinates": ..., "state": ..., "output": ...} as /predict takes them; 404 where there is none.
  std::string sample(const ServedModel& model, std::int64_t index) const;

 private:
  struct Set;
  const Set* fitting(const ServedModel& model) const;
  std::vector<std::shared_ptr<Set>> sets_;
  mutable std::mutex mutex_;  // HDF5 is read by one at a time
};

}  // namespace lano::serve
