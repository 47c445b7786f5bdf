// Which imported samples go to train, validation and test, and warnings for the user: splits that are empty, test
// samples that are training samples, test samples unlike the training samples. Private to src/data.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/listener.h"
#include "data/array_import.h"
#include "data/dataset.h"

namespace lano {

// The samples of one group of arrays, all of one split or to be divided.
struct SampleGroup {
  std::int64_t samples = 0;
  std::optional<Split> split;
};

struct SplitPlan {
  std::vector<Split> splits;                      // of the dataset's samples, in its order
  std::vector<std::vector<std::int64_t>> places;  // [group][row]: where it goes, -1 for left out
  bool divided = false;                           // test samples are the last (or drawn) ones of all
};

SplitPlan plan_splits(const ArrayImport& options, const std::vector<SampleGroup>& groups);

// Collects what is needed to check the splits while samples are written.
class SplitCheck {
 public:
  SplitCheck(const SplitPlan& plan, std::vector<std::string> fields);

  // coordinates: empty where shared. Fields one after the other, [N, channels] each.
  void add(std::int64_t place, std::span<const float> coordinates, std::span<const float> input,
           std::int64_t input_channels, std::span<const float> output, std::int64_t output_channels);
  // Refuses a test split made of training samples, warns of the rest.
  void judge(const ArrayImport& options, Listener& listener) const;

 private:
  void add_channels(std::vector<double>& numbers, std::span<const float> values, std::int64_t channels) const;
  void judge_copies(Listener& listener) const;
  void judge_likeness(const ArrayImport& options, Listener& listener) const;

  const SplitPlan& plan_;
  std::vector<std::string> fields_;  // input and output channels
  std::vector<std::uint64_t> hashes_;
  std::vector<std::vector<double>> numbers_;  // of each sample: mean and deviation of each channel
};

}  // namespace lano
