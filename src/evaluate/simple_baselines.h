// What a few lines of statistics reach on the same samples: a scale for the error of an operator. Fitted on the
// training samples in seconds and evaluated by the same code as every model:
//   mean field       the mean output of the training samples, point by point
//   nearest sample   the output of the training sample whose input is nearest
//   ridge            linear regression from the inputs to the outputs, on the principal components of the inputs
//   persistence      models that step in time: the first frame stays
// Points correspond by their place in the file. Clouds of different sizes have one: the mean value.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/dataset.h"
#include "model_spec/lano_config.h"

namespace lano {

struct BaselineError {
  std::string name;
  double relative_l2 = 0;  // mean over the samples
};

// The lowest, or nothing if there is none.
const BaselineError* best_of(const std::vector<BaselineError>& baselines);
// "mean field 4.75e-01, nearest sample 1.20e-01, ridge 6.5e-02".
std::string baselines_text(const std::vector<BaselineError>& baselines);

class SimpleBaselines {
 public:
  // Training samples beyond a thousand, or beyond `bytes` of memory, are left out evenly.
  static constexpr std::int64_t kMostSamples = 1000, kMostBytes = std::int64_t{512} << 20;

  // train: the samples that are fitted. given_frames: of the output that are known and not evaluated (autoregressive
  // models), else 0. Fails without outputs or samples.
  SimpleBaselines(const DatasetReader& reader, const std::vector<std::int64_t>& train, std::int64_t given_frames,
                  std::int64_t bytes = kMostBytes);
  ~SimpleBaselines();

  std::int64_t samples() const;  // that were used
  std::vector<BaselineError> judge(const DatasetReader& reader, std::span<const std::int64_t> ids) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace lano
