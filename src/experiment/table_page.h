// What a table of trainings shows: Markdown, CSV, and a page with LANO and the runner-up on the same test samples.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/table.h"

namespace lano {

// The paper's benchmarks in its order, and every operator of the catalogue.
const std::vector<std::string>& table_benchmarks();
std::vector<std::string> catalogue_names();

// Writes folder/table.md and table.csv from all pairs in it, and returns the Markdown.
std::string write_table(const TablePlan& plan, const std::filesystem::path& folder);
// Writes folder/index.html too, and <benchmark>.png, with predictions of the models themselves.
std::string write_table_page(const TablePlan& plan, const std::filesystem::path& folder);

}  // namespace lano
