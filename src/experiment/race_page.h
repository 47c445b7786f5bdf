// What a race shows: a table for people (Markdown, which a terminal shows aligned too), and the same for programs.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "experiment/race.h"

namespace lano {

// `set`: the dataset in words.
std::string race_markdown(const RacePlan& plan, const std::vector<RaceRow>& rows, const std::string& set);
std::string race_csv(const std::vector<RaceRow>& rows);  // one line per recipe
nlohmann::ordered_json race_json(const RacePlan& plan, const std::vector<RaceRow>& rows);

// Writes folder/race.md, race.csv and race.json from what the folder holds, and returns the Markdown.
std::string write_race(const RacePlan& plan, const std::filesystem::path& folder);

}  // namespace lano
