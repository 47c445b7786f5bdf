// What a study (experiment/study.h) shows: a table as Markdown and CSV, a plot for each benchmark and axis as PNG, and
// a page with all of it; with the paper's numbers next to ours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "experiment/study.h"

namespace lano {

// For the reader of one study: a heading, and sentences on what is compared and what differs from the paper.
struct StudyWords {
  std::string title;
  std::vector<std::string> about;
};

std::string study_markdown(const StudyPlan& plan, const StudyWords& words, const std::vector<StudyRow>& rows);
// A line per seed; `steps`: a line per row and evaluated frame instead.
std::string study_csv(const std::vector<StudyRow>& rows);
std::string study_steps_csv(const std::vector<StudyRow>& rows);

// Writes folder/<name>.md and .csv (steps.csv where there are steps), the plots <benchmark>-<axis>.png and index.html
// from what is finished. Returns the Markdown.
std::string write_study(const StudyPlan& plan, const StudyWords& words, const std::filesystem::path& folder);

}  // namespace lano
