// The folder of `lano train --seeds`: the same training with several seeds. seeds.json holds the plan and the results
// so far; this is its only writer and reader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

namespace lano {

struct MeanAndDeviation {
  // NaN: no values; one value has no deviation.
  double mean = std::numeric_limits<double>::quiet_NaN(), deviation = std::numeric_limits<double>::quiet_NaN();
};

struct SeedRun {
  std::int64_t seed = 0, best_epoch = 0;
  double validation_l2 = 0, test_l2 = 0;
};

struct SeedResults {
  std::int64_t planned = 0, base_seed = 0;
  std::vector<SeedRun> runs;          // the finished ones
  MeanAndDeviation validation, test;  // over the finished ones
  std::string selection;              // how the numbers were picked, in a sentence
  bool finished() const { return static_cast<std::int64_t>(runs.size()) == planned; }
};

std::filesystem::path seed_group_file(const std::filesystem::path& folder);
bool is_seed_group(const std::filesystem::path& folder);
std::string seed_run_name(std::int64_t seed);  // of its folder in the group's

void write_seed_group(const std::filesystem::path& folder, const SeedResults& group);
// Fails if the file is damaged.
std::int64_t planned_seeds(const std::filesystem::path& folder);

// The group as a list of runs shows it, whatever the file holds.
struct SeedGroup {
  std::filesystem::path folder;
  std::int64_t count = 0;  // seeds named in the file
  MeanAndDeviation validation_l2, test_l2;
  std::string selection;
  std::vector<std::string> notes;  // what is damaged, in a sentence
};
SeedGroup read_seed_group(const std::filesystem::path& folder);

}  // namespace lano
