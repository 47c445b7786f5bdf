#include "train/validation.h"

#include <cmath>
#include <utility>

#include "data/sample_feed.h"
#include "evaluate/evaluation.h"

namespace lano {

Validation::Validation(const DatasetReader& reader, std::vector<std::int64_t> ids)
    : reader_(reader), ids_(std::move(ids)) {
  if (sample_bytes(reader_, ids_) <= kPieceBytes) samples_ = reader_.read(ids_);
}

double Validation::error(Predictor& predictor) const {
  if (ids_.empty()) return std::nan("");
  const Evaluation evaluation = samples_.count > 0 ? judge(predictor, reader_.description(), samples_).evaluation
                                                   : judge_in_pieces(predictor, reader_, ids_, kPieceBytes);
  return evaluation.relative_l2.summary.mean;
}

}  // namespace lano
