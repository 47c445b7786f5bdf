// The validation samples, by which weights are chosen: kept in memory if they are few, otherwise read in pieces each
// time. Several ranks (core/ranks.h) evaluate a share each.
#pragma once

#include <vector>

#include "data/dataset.h"
#include "evaluate/predictor.h"

namespace lano {

class Validation {
 public:
  Validation(const DatasetReader& reader, std::vector<std::int64_t> ids);
  std::int64_t count() const { return count_; }  // of all ranks
  double error(Predictor& predictor) const;      // mean relative L2; NaN without samples

 private:
  const DatasetReader& reader_;
  std::int64_t count_;
  std::vector<std::int64_t> ids_;  // of this rank
  Samples samples_;                // empty where they are read in pieces
};

}  // namespace lano
