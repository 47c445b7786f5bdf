// Names of the splits, and the rule by which samples are divided.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "data/dataset.h"

namespace lano {

std::string_view split_name(Split split) {
  switch (split) {
    case Split::train:
      return "train";
    case Split::validation:
      return "validation";
    case Split::test:
      return "test";
  }
  return "?";
}

Split parse_split(std::string_view name) {
  for (const Split split : {Split::train, Split::validation, Split::test}) {
    if (split_name(split) == name) return split;
  }
  fail_usage("choosing a split", "train, validation, test or all", fmt::format("'{}'", name));
}

std::vector<Split> make_splits(std::int64_t train, std::int64_t test, double validation_share) {
  if (train < 0 || test < 0 || train + test == 0 || !(validation_share >= 0 && validation_share < 1)) {
    fail_usage("splitting a dataset", "sizes of at least 0, not both 0, and a validation share in [0, 1)",
               fmt::format("train {}, test {}, share {}", train, test, validation_share));
  }
  const auto share = std::llround(validation_share * static_cast<double>(train));
  const auto validation = validation_share > 0 && train > 1 ? std::clamp<std::int64_t>(share, 1, train - 1) : 0;
  std::vector<Split> splits(static_cast<std::size_t>(train - validation), Split::train);
  splits.insert(splits.end(), static_cast<std::size_t>(validation), Split::validation);
  splits.insert(splits.end(), static_cast<std::size_t>(test), Split::test);
  return splits;
}

}  // namespace lano
