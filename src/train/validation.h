// The validation samples, by which weights are chosen: kept in memory where it is small, else read in pieces each time.
#pragma once

#include <vector>

#include "data/dataset.h"
#include "evaluate/predictor.h"

namespace lano {

class Validation {
 public:
  Validation(const DatasetReader& reader, std::vector<std::int64_t> ids);
  std::int64_t count() const { return static_cast<std::int64_t>(ids_.size()); }
  double error(Predictor& predictor) const;  // mean relative L2; NaN without samples

 private:
  const DatasetReader& reader_;
  std::vector<std::int64_t> ids_;
  Samples samples_;  // empty where they are read in pieces
};

}  // namespace lano
