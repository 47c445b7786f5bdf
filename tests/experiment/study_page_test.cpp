#include "experiment/study_page.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lano::study_page_test {
namespace {

std::vector<StudyRow> rows() {
  StudyRow reference;
  reference.benchmark = "darcy";
  reference.place = {"agents M", "trained again", "M = 8", 8, true, 6.29e-3};
  reference.errors = {0.02, 0.04};
  reference.parameters = 7;
  StudyRow better = reference, missing = reference;
  better.place = {"agents M", "trained again", "M = 16", 16, false};
  better.errors = {0.015};
  missing.place = {"agents M", "trained again", "M = 32", 32, false};
  missing.errors.clear();
  missing.reason = "refused: too many";
  return {reference, better, missing};
}

StudyPlan plan() {
  StudyPlan plan;
  plan.name = "agents";
  plan.seeds = 2;
  plan.threads = 1;
  return plan;
}

TEST(StudyPage, ErrorsStandBesideTheReferenceAndThePaper) {
  const std::string text = study_markdown(plan(), {"Title", {"About it."}}, rows());
  EXPECT_NE(text.find("| trained again | M = 8 | 3.000e-02 | 1.4e-02 | 1 | 7 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| trained again | M = 16 | 1.500e-02 | - | 0.500 | 7 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| 6.290e-03 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| trained again | M = 32 | / | - | - |"), std::string::npos) << text;
  EXPECT_NE(text.find("M = 32: refused: too many"), std::string::npos) << text;
  EXPECT_NE(text.find("About it."), std::string::npos);
}

TEST(StudyPage, CsvHasALinePerSeed) {
  const std::string csv = study_csv(rows());
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 1 + 3);
  EXPECT_NE(csv.find("darcy,agents M,\"trained again\",\"M = 8\",8,1,0.04,7"), std::string::npos) << csv;
}

TEST(StudyPage, StepsAreATableOfTheirOwn) {
  StudyRow row = rows().front();
  row.place.axis = "frame";
  row.place.label = "LANO";
  row.first_frame = 1;
  for (int step = 1; step <= 12; ++step) row.step_l2.push_back(0.01 * step);
  const std::string text = study_markdown(plan(), {"Title", {}}, {row});
  EXPECT_NE(text.find("| relative L2 at step | 1 | 2 | 5 | 10 | 12 |"), std::string::npos) << text;
  EXPECT_NE(text.find("| LANO | 1.000e-02 | 2.000e-02 | 5.000e-02 | 1.000e-01 | 1.200e-01 |"), std::string::npos)
      << text;
  EXPECT_NE(study_steps_csv({row}).find("darcy,\"LANO\",12,12,0.12\n"), std::string::npos) << study_steps_csv({row});
}

}  // namespace
}  // namespace lano::study_page_test
