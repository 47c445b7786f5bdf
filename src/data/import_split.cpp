#include "data/import_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_set>

#include "core/error.h"
#include "core/fnv.h"
#include "core/random.h"

namespace lano {
namespace {

const std::string kSplitting = "splitting the imported samples";

struct Row {
  std::size_t group;
  std::int64_t row;
};

void shuffle_rows(std::vector<Row>& rows, std::uint64_t seed) {
  std::vector<std::int64_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  RandomStream stream(seed, Purpose::split);
  shuffle(order, stream);
  std::vector<Row> shuffled;
  for (const std::int64_t i : order) shuffled.push_back(rows[static_cast<std::size_t>(i)]);
  rows = std::move(shuffled);
}

void cut_rows(std::vector<Row>& rows, const std::optional<std::int64_t>& count, const char* name) {
  if (!count) return;
  if (*count < 0 || *count > std::ssize(rows))
    fail_usage(kSplitting, fmt::format("at most {} {} samples", rows.size(), name), std::to_string(*count));
  rows.resize(static_cast<std::size_t>(*count));
}

std::vector<Row> take_last(std::vector<Row>& rows, std::int64_t count) {
  std::vector<Row> last(rows.end() - count, rows.end());
  rows.resize(rows.size() - static_cast<std::size_t>(count));
  return last;
}

struct Mean {
  double mean = 0, variance = 0;  // of the samples' numbers
};

Mean mean_of(const std::vector<double>& values) {
  Mean m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  return m;
}

}  // namespace

SplitPlan plan_splits(const ArrayImport& options, const std::vector<SampleGroup>& groups) {
  std::vector<Row> train, validation, test, undivided;
  bool own_validation = false, own_test = false;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const auto& split = groups[g].split;
    own_validation = own_validation || split == Split::validation;
    own_test = own_test || split == Split::test;
    std::vector<Row>& to = split == Split::train        ? train
                           : split == Split::validation ? validation
                           : split == Split::test       ? test
                                                        : undivided;
    for (std::int64_t row = 0; row < groups[g].samples; ++row) to.push_back({g, row});
  }
  SplitPlan plan;
  // Samples that are not assigned to a split are divided; so are training samples if there are no test samples.
  const bool only_test = train.empty() && undivided.empty();
  train.insert(train.end(), undivided.begin(), undivided.end());
  if (options.shuffle) shuffle_rows(train, *options.shuffle);
  if (!own_test) {
    const std::int64_t all = std::ssize(train);
    const std::int64_t share = std::llround(0.1 * static_cast<double>(all));
    const std::int64_t wanted = options.test_count.value_or(all < 2 ? 0 : std::max<std::int64_t>(1, share));
    if (wanted < 0 || wanted > all)
      fail_usage(kSplitting, fmt::format("at most {} test samples", all), std::to_string(wanted));
    test = take_last(train, wanted);
    plan.divided = true;
  }
  cut_rows(train, options.train_count, "train");
  cut_rows(test, options.test_count, "test");
  const auto splits = make_splits(std::ssize(train), std::ssize(test) + (only_test ? std::ssize(validation) : 0),
                                  own_validation ? 0.0 : options.validation_share);
  if (!own_validation) {
    const auto count = std::count(splits.begin(), splits.end(), Split::validation);
    validation = take_last(train, count);
  }
  for (const SampleGroup& group : groups) plan.places.emplace_back(static_cast<std::size_t>(group.samples), -1);
  for (const auto& [rows, split] :
       {std::pair(&train, Split::train), std::pair(&validation, Split::validation), std::pair(&test, Split::test)}) {
    for (const Row& row : *rows) {
      plan.places[row.group][static_cast<std::size_t>(row.row)] = std::ssize(plan.splits);
      plan.splits.push_back(split);
    }
  }
  return plan;
}

SplitCheck::SplitCheck(const SplitPlan& plan, std::vector<std::string> fields)
    : plan_(plan), fields_(std::move(fields)), hashes_(plan.splits.size()), numbers_(plan.splits.size()) {}

void SplitCheck::add_channels(std::vector<double>& numbers, std::span<const float> values,
                              std::int64_t channels) const {
  if (channels == 0 || values.empty()) return;
  const auto width = static_cast<std::size_t>(channels);
  const double points = static_cast<double>(values.size() / width);
  std::vector<double> sum(width, 0), squares(width, 0);
  for (std::size_t i = 0; i < values.size(); i += width) {
    for (std::size_t c = 0; c < width; ++c) {
      sum[c] += values[i + c];
      squares[c] += double{values[i + c]} * values[i + c];
    }
  }
  for (std::size_t c = 0; c < width; ++c) {
    const double mean = sum[c] / points;
    numbers.push_back(mean);
    numbers.push_back(std::sqrt(std::max(0.0, squares[c] / points - mean * mean)));
  }
}

void SplitCheck::add(std::int64_t place, std::span<const float> coordinates, std::span<const float> input,
                     std::int64_t input_channels, std::span<const float> output, std::int64_t output_channels) {
  const auto at = static_cast<std::size_t>(place);
  Fnv hash;
  hash.add(coordinates);
  hash.add(input);
  hash.add(output);
  hashes_[at] = hash.value();
  add_channels(numbers_[at], input, input_channels);
  add_channels(numbers_[at], output, output_channels);
}

void SplitCheck::judge(const ArrayImport& options, Listener& listener) const {
  const auto count = [&](Split split) { return std::count(plan_.splits.begin(), plan_.splits.end(), split); };
  if (count(Split::train) == 0) listener.warn("no training samples: this dataset is for lano eval and lano predict");
  if (count(Split::train) > 0 && count(Split::validation) == 0 && options.validation_share > 0)
    listener.warn("no validation samples: a training cannot choose its weights by them; import more samples");
  if (count(Split::test) == 0 && options.test_count.value_or(1) > 0)
    listener.warn("no test samples: the error of a model cannot be measured; import more samples");
  judge_copies(listener);
  judge_likeness(options, listener);
}

void SplitCheck::judge_copies(Listener& listener) const {
  std::unordered_set<std::uint64_t> known;
  std::int64_t test = 0, copies = 0, repeated = 0;
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (plan_.splits[i] != Split::test && !known.insert(hashes_[i]).second) ++repeated;
  }
  for (std::size_t i = 0; i < hashes_.size(); ++i) {
    if (plan_.splits[i] != Split::test) continue;
    ++test;
    if (known.contains(hashes_[i])) ++copies;
  }
  if (test > 0 && copies == test && !known.empty()) {
    const std::string which = test == 1 ? "the only test sample is" : fmt::format("all {} test samples are", test);
    fail_plainly(kSplitting, which + " among the training samples, number for number",
                 "give other test samples, or none: then the last samples, or with --shuffle random ones, are taken");
  }
  if (copies > 0)
    listener.warn(
        fmt::format("{} of {} test samples are training or validation samples, number for number", copies, test));
  if (repeated > 0) listener.warn(fmt::format("{} training and validation samples repeat others", repeated));
}

// Two means differ where their distance is beyond the spread of the samples (a shift that matters) and beyond four
// times what chance gives it (a shift that is real): spread x sqrt(1/n + 1/m).
void SplitCheck::judge_likeness(const ArrayImport& options, Listener& listener) const {
  std::string worst;
  double most = 0;
  for (std::size_t k = 0; k < 2 * fields_.size(); ++k) {
    std::vector<double> train, test;
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      if (k >= numbers_[i].size()) continue;
      (plan_.splits[i] == Split::test ? test : train).push_back(numbers_[i][k]);
    }
    if (train.size() < 2 || test.size() < 2) continue;
    const Mean a = mean_of(train), b = mean_of(test);
    const double spread = std::sqrt(std::max(a.variance, b.variance));
    const double floor = 1e-6 * std::max(std::abs(a.mean), std::abs(b.mean));  // rounding is no spread
    const double distance = std::abs(a.mean - b.mean) / std::max({spread, floor, 1e-300});
    const double chance = std::sqrt(1.0 / static_cast<double>(train.size()) + 1.0 / static_cast<double>(test.size()));
    if (distance <= 1 || distance <= 4 * chance || distance <= most) continue;
    most = distance;
    worst = fmt::format("{} of '{}': {:.3g} in training and validation, {:.3g} in test, spread {:.3g}",
                        k % 2 == 0 ? "mean" : "deviation", fields_[k / 2], a.mean, b.mean, spread);
  }
  if (worst.empty()) return;
  if (plan_.divided && !options.shuffle) {
    listener.warn(
        fmt::format("the last samples, which became the test, are unlike the others ({}): sorted data? --shuffle draws "
                    "the splits at random",
                    worst));
  } else {
    listener.warn(fmt::format("the test samples are unlike the training samples ({})", worst));
  }
}

}  // namespace lano
