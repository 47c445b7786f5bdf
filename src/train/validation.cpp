#include "train/validation.h"

#include <cmath>
#include <utility>

#include "core/ranks.h"
#include "data/sample_feed.h"
#include "evaluate/evaluation.h"
#include "metrics/metrics.h"

namespace lano {

Validation::Validation(const DatasetReader& reader, std::vector<std::int64_t> ids)
    : reader_(reader), count_(static_cast<std::int64_t>(ids.size())) {
  const Share own = share_of(count_, mesh_group(), mesh_groups());
  ids_.assign(ids.begin() + own.first, ids.begin() + own.last);
  if (sample_bytes(reader_, ids_) <= kPieceBytes) samples_ = reader_.read(ids_);
}

double Validation::error(Predictor& predictor) const {
  if (count_ == 0) return std::nan("");
  Evaluation evaluation;
  if (!ids_.empty()) {
    evaluation = samples_.count > 0 ? judge(predictor, reader_.description(), samples_).evaluation
                                    : judge_in_pieces(predictor, reader_, ids_, kPieceBytes);
  }
  if (mesh_groups() == 1) return evaluation.relative_l2.summary.mean;
  const std::vector<double>& mine = evaluation.relative_l2.per_sample;
  return summarise(ranks().gather(mesh_ranks().first() ? std::span(mine) : std::span<const double>())).mean;
}

}  // namespace lano
