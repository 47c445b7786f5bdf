#include "run/seed_group.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/atomic_file.h"
#include "core/error.h"
#include "core/strict_json.h"
#include "run/run_folder.h"

namespace lano {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

// JSON has no NaN: what is not there is null, which is how the library writes one.
ordered_json to_json(const MeanAndDeviation& values) {
  return {{"mean", values.mean}, {"deviation", values.deviation}};
}

double number(const json& object, const char* key) {
  const auto at = object.find(key);
  return at != object.end() && at->is_number() ? at->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::string word(const json& object, const char* key, std::string otherwise = {}) {
  const auto at = object.find(key);
  return at != object.end() && at->is_string() ? at->get<std::string>() : otherwise;
}

// The object in a JSON file; null if there is none, with a note if the file exists and cannot be used.
json object_in(const fs::path& path, std::vector<std::string>& notes) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return nullptr;
  try {
    json object = json::parse(read_own_file(path));
    if (object.is_object()) return object;
    notes.push_back(fmt::format("reading '{}': expected an object, found {}", path.string(), object.type_name()));
  } catch (const json::exception&) {
    notes.push_back(fmt::format("reading '{}': the file is damaged: it is not complete JSON", path.string()));
  } catch (const Error& error) {
    notes.emplace_back(error.what());
  }
  return nullptr;
}

}  // namespace

fs::path seed_group_file(const fs::path& folder) { return folder / "seeds.json"; }

bool is_seed_group(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_regular_file(seed_group_file(folder), ignored);
}

std::string seed_run_name(std::int64_t seed) { return fmt::format("seed-{}", seed); }

void write_seed_group(const fs::path& folder, const SeedResults& group) {
  ordered_json runs = ordered_json::array();
  for (const SeedRun& run : group.runs) {
    runs.push_back({{"seed", run.seed},
                    {"run", seed_run_name(run.seed)},
                    {"validation_l2", run.validation_l2},
                    {"test_l2", run.test_l2},
                    {"best_epoch", run.best_epoch}});
  }
  const ordered_json all{{"planned", group.planned},
                         {"base_seed", group.base_seed},
                         {"seeds", runs},
                         {"validation_l2", to_json(group.validation)},
                         {"test_l2", to_json(group.test)},
                         {"selection", group.selection}};
  write_file_atomically(seed_group_file(folder), all.dump(1) + "\n");
}

std::int64_t planned_seeds(const fs::path& folder) {
  try {
    return json::parse(read_own_file(seed_group_file(folder))).at("planned");
  } catch (const json::exception& error) {
    fail(fmt::format("reading '{}'", seed_group_file(folder).string()), "the plan of a group of seeds",
         json_reason(error), "remove the file and repeat the whole command; finished runs are kept");
  }
}

SeedGroup read_seed_group(const fs::path& folder) {
  SeedGroup group;
  group.folder = folder;
  const json file = object_in(seed_group_file(folder), group.notes);
  if (file.is_null()) return group;
  group.selection = word(file, "selection");
  if (const auto seeds = file.find("seeds"); seeds != file.end() && seeds->is_array())
    group.count = static_cast<std::int64_t>(seeds->size());
  const auto spread = [&](const char* key) {
    const auto at = file.find(key);
    return at != file.end() && at->is_object() ? MeanAndDeviation{number(*at, "mean"), number(*at, "deviation")}
                                               : MeanAndDeviation{};
  };
  group.validation_l2 = spread("validation_l2");
  group.test_l2 = spread("test_l2");
  return group;
}

}  // namespace lano
