// Runs as a table with one line each: the table of `lano runs` and the page that compares runs. Runs of one seed group
// stay together under a line with their mean and deviation.
#pragma once

#include <string>
#include <vector>

#include "run/run_summary.h"

namespace lano {

enum class RunOrder { name, validation, test, time };  // the least first, unknown last

struct RunTable {
  enum class Kind { run, group, member };
  struct Row {
    Kind kind = Kind::run;
    std::size_t index = 0;           // into the collection's runs or groups
    std::vector<std::string> cells;  // "-" where unknown
  };
  std::vector<std::string> columns;
  std::vector<Row> rows;
};

// Config keys that two runs give different values, in the order of the alphabet; never data.file and train.seed, and
// train.epochs only `with_epochs`: the table shows them anyway. A key that a run lacks (of another version) or that its
// operator does not read is no difference.
std::vector<std::string> differing_keys(const std::vector<RunSummary>& runs, bool with_epochs = false);

// The value of a key in the run's config; empty where it has none or its operator does not read it.
std::string config_value(const RunSummary& run, const std::string& key);

// Fails where no run has such a key, with the nearest one.
void check_keys(const std::vector<std::string>& keys, const std::vector<RunSummary>& runs);

// `keys` become columns.
RunTable make_run_table(const RunCollection& found, RunOrder order, const std::vector<std::string>& keys);
std::string table_text(const RunTable& table);

// For programs: plain numbers, a column for each, empty where unknown.
std::string table_csv(const RunCollection& found, RunOrder order, const std::vector<std::string>& keys);

// "3.000e-02 +- 1.0e-03"; "-" where unknown.
std::string error_text(double value);
std::string spread_text(const MeanAndDeviation& spread);
// 1104257 -> "1,104,257"
std::string grouped_digits(std::int64_t value);

}  // namespace lano
