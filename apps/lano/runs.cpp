#include <fmt/format.h>

#include "command.h"
#include "core/error.h"
#include "core/nearest.h"
#include "report/run_list.h"

namespace lano::cli {
namespace {

constexpr std::size_t kMostKeys = 6;

struct RunsOptions {
  std::vector<std::string> folders{"runs"};
  std::string sort = "name";
  bool csv = false;
  std::vector<std::string> keys;
};

RunOrder order_of(const std::string& word) {
  if (word == "name") return RunOrder::name;
  if (word == "validation") return RunOrder::validation;
  if (word == "test") return RunOrder::test;
  if (word == "time") return RunOrder::time;
  fail_usage("reading --sort", "name, validation, test or time", fmt::format("'{}'", word),
             did_you_mean(word, {"name", "validation", "test", "time"}));
}

void run_runs(const RunsOptions& options) {
  const RunOrder order = order_of(options.sort);
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : options.folders) {
    if (!std::filesystem::is_directory(folder)) {
      const std::filesystem::path above = std::filesystem::path(folder).parent_path();
      const bool file = std::filesystem::exists(folder);
      fail_plainly(fmt::format("listing the runs in '{}'", folder),
                   file ? "it is a file" : "there is nothing at that path",
                   file && is_run_folder(above) ? fmt::format("it belongs to the run '{}': name that", above.string())
                                                : "name the folder that holds the runs");
    }
    std::error_code error;
    const std::filesystem::directory_iterator listed(folder, error);
    if (error)
      fail(fmt::format("listing the runs in '{}'", folder), "a folder that can be read", error.message(),
           "check its permissions");
    folders.emplace_back(folder);
  }
  const RunCollection found = collect_runs(folders);
  std::vector<std::string> keys = options.keys;
  std::size_t more = 0;
  if (keys.empty()) {
    keys = differing_keys(found.runs);
    more = keys.size() - std::min(keys.size(), kMostKeys);
    keys.resize(keys.size() - more);
  } else {
    check_keys(keys, found.runs);
  }
  if (options.csv) {
    fmt::print("{}", table_csv(found, order, keys));
  } else if (found.runs.empty() && found.groups.empty()) {
    fmt::print("no run in {}\n", fmt::join(options.folders, ", "));
  } else {
    fmt::print("{}", table_text(make_run_table(found, order, keys)));
  }
  std::fflush(stdout);
  if (more > 0)
    fmt::print(stderr, "{} more config key{} between the runs; name them with --keys\n", more,
               more == 1 ? " differs" : "s differ");
  for (const RunSummary& one : found.runs) {
    for (const std::string& note : one.notes) fmt::print(stderr, "lano: {}\n", note);
  }
  for (const SeedGroup& group : found.groups) {
    for (const std::string& note : group.notes) fmt::print(stderr, "lano: {}\n", note);
  }
}

}  // namespace

void add_runs(CLI::App& app) {
  auto options = std::make_shared<RunsOptions>();
  CLI::App* command = app.add_subcommand("runs", "list runs: state, errors, and the config keys that differ");
  command->add_option("folders", options->folders, "folders to list; default runs");
  command->add_option("--sort", options->sort, "name, validation, test or time; the smallest first");
  command->add_flag("--csv", options->csv, "print CSV");
  command->add_option("--keys", options->keys, "config keys to show, as a.b,c.d; default those that differ, at most 6")
      ->delimiter(',');
  command->footer("Example: lano runs runs/darcy --sort validation --keys schedule.learning_rate,model.width");
  command->callback([options] { run_runs(*options); });
}

}  // namespace lano::cli
