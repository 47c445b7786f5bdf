#include "report/model_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace lano::model_table_test {
namespace {

// Three operators on two benchmarks: LANO is best on the first and second on the other, one cell has a reason, one was
// not requested.
ModelTable sample() {
  ModelTable t;
  t.models = {"fno", "transolver", "lano"};
  t.benchmarks = {"elasticity", "darcy"};
  t.sets = {"points [972]", "grid [29, 29]"};
  t.about = {"Budget: 2 minutes."};
  t.cells.resize(6);
  t.cells[0].reason = "refused: a <grid> expected";
  t.cells[0].asked = 1;
  t.cells[2] = {0.02, ModelCell::kNone, 1, 1000, 300'000'000, 12, 9.5, 114, ""};
  t.cells[4] = {0.01, 0.002, 2, 2345678, 250'000'000, 0.62, 170, 110, "", 2};
  t.cells[1] = {0.03, ModelCell::kNone, 1, 10, 1'000'000, 3, 1, 3, ""};
  t.cells[5] = {0.06, ModelCell::kNone, 1, 10, 1'000'000, 3, 1, 3, ""};
  return t;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(ModelTable, RanksAndPromotion) {
  const ModelTable t = sample();
  EXPECT_EQ(best_two(t, 0), std::pair(std::size_t{2}, std::size_t{1}));
  EXPECT_EQ(best_two(t, 1), std::pair(std::size_t{0}, std::size_t{2}));
  EXPECT_EQ(runner_up(t, 0), 1u);
  EXPECT_EQ(runner_up(t, 1), 0u);
  EXPECT_NEAR(promotion(t, 0), 0.5, 1e-12);
  EXPECT_NEAR(promotion(t, 1), -1, 1e-12);  // against the best other, also where that is ahead
  ModelTable alone = t;
  alone.cells[4] = {};
  EXPECT_TRUE(std::isnan(promotion(alone, 0)));
  EXPECT_EQ(best_two(alone, 0), std::pair(std::size_t{1}, std::size_t{3}));
}

TEST(ModelTable, Markdown) {
  const std::string text = model_table_markdown(sample());
  EXPECT_TRUE(holds(text, "| model | family | elasticity (x 100) | darcy (x 100) |\n")) << text;
  EXPECT_TRUE(holds(text, "| FNO | spectral | / | **3.00** |\n")) << text;
  EXPECT_TRUE(holds(text, "| Transolver | transformer | <ins>2.00</ins> |  |\n")) << text;
  EXPECT_TRUE(holds(text, "| LANO | transformer | **1.00 ± 0.20** | <ins>6.00</ins> |\n")) << text;
  EXPECT_TRUE(holds(text, "| relative promotion of LANO |  | 50.0 % | -100.0 % |\n")) << text;
  EXPECT_TRUE(holds(text, "| average promotion |  | -25.0 % |  |\n")) << text;
  EXPECT_FALSE(holds(text, "What the paper prints")) << text;  // no own number was given
  ModelTable printed = sample();
  printed.cells[5].paper = 0.0045;
  EXPECT_TRUE(holds(model_table_markdown(printed), "| LANO | transformer | / | 0.45 |\n"))
      << model_table_markdown(printed);
  EXPECT_TRUE(holds(text, "| LANO | **1.00 ± 0.20** | 2,345,678 | 170 s | 0.62 | 1 min 50 s | 250 MB |\n")) << text;
  EXPECT_TRUE(holds(text, "- FNO on elasticity: refused: a <grid> expected\n")) << text;
  EXPECT_TRUE(holds(text, "elasticity: points [972]")) << text;
  EXPECT_FALSE(holds(text, "| Transolver | / |")) << text;  // not requested on darcy: no row there
}

// LANO is ahead by the one seed that did not diverge: shown, but neither best nor promoted.
TEST(ModelTable, AMeanOverPartOfTheSeedsHasNoRank) {
  ModelTable t = sample();
  t.cells[4].seeds = 1;
  t.cells[4].asked = 3;
  t.cells[4].deviation = ModelCell::kNone;
  t.cells[4].reason = "diverged: NaN in step 3";
  EXPECT_EQ(best_two(t, 0), std::pair(std::size_t{1}, std::size_t{3}));
  EXPECT_EQ(runner_up(t, 0), 1u);
  EXPECT_TRUE(std::isnan(promotion(t, 0)));
  const std::string text = model_table_markdown(t);
  EXPECT_TRUE(holds(text, "| LANO | transformer | 1.00 (1 of 3 seeds) | <ins>6.00</ins> |\n")) << text;
  EXPECT_TRUE(holds(text, "| Transolver | transformer | **2.00** |  |\n")) << text;
  EXPECT_TRUE(holds(
      text,
      "Seeds without a number:\n\n- FNO on elasticity: refused: a <grid> expected\n- LANO on elasticity: diverged"))
      << text;
  EXPECT_TRUE(holds(model_table_csv(t),
                    "elasticity,lano,0.01,,1,3,2345678,170,0.62,110,250000000,,\"diverged: NaN in step 3\"\n"))
      << model_table_csv(t);
  EXPECT_TRUE(holds(render_model_table(t, {}, "lano"), "<h2>Seeds without a number</h2>"));
}

TEST(ModelTable, Csv) {
  const std::string text = model_table_csv(sample());
  EXPECT_TRUE(holds(text, "elasticity,lano,0.01,0.002,2,2,2345678,170,0.62,110,250000000,1,\n")) << text;
  EXPECT_TRUE(holds(text, "elasticity,fno,,,0,1,0,,0,,0,,\"refused: a <grid> expected\"\n")) << text;
  EXPECT_TRUE(holds(text, "darcy,relative promotion,-1,,,,,,,,,,\n")) << text;
  EXPECT_FALSE(holds(text, "darcy,transolver")) << text;
  const std::string header = text.substr(0, text.find('\n'));
  std::size_t from = 0;
  for (std::size_t line = 0; from < text.size(); ++line) {  // as many cells in every line
    const std::size_t end = text.find('\n', from);
    const auto row = text.substr(from, end - from);
    EXPECT_EQ(std::count(row.begin(), row.end(), ','), std::count(header.begin(), header.end(), ',')) << row;
    from = end + 1;
  }
}

TEST(ModelTable, ThePageShowsBothOperatorsBesideTheTruth) {
  SideBySide side;
  side.benchmark = "darcy";
  side.set.geometry = Geometry::grid;
  side.set.shape = {2, 2};
  side.set.coordinates = {{"x", "1"}, {"y", "1"}};
  side.set.output = {{"u", "1"}};
  ShownSample mine;
  mine.id = 41;
  mine.relative_l2 = 0.125;
  mine.coordinates = {0, 0, 0, 1, 1, 0, 1, 1};
  mine.truth = {0, 1, 2, 4};
  mine.prediction = {0, 1, 2, 3.5};
  side.seen = {{"LANO", mine}, {"F<NO", mine}};
  side.seen[1].sample.prediction = {0, 1, 2, 2};
  const std::string html = render_model_table(sample(), {side}, "lano");
  for (const char* part : {"Test sample 41", "F&lt;NO, error", "LANO, error", "Truth", "<u>2.00</u>",
                           "<b>1.00 ± 0.20</b>", "refused: a &lt;grid&gt; expected", "Budget: 2 minutes."}) {
    EXPECT_TRUE(holds(html, part)) << part;
  }
  std::size_t figures = 0;
  for (std::size_t at = html.find("<figure>"); at != std::string::npos; at = html.find("<figure>", at + 1)) ++figures;
  EXPECT_EQ(figures, 5u);
  // Errors on one scale, up to the larger of the two: 2, not 0.5.
  EXPECT_FALSE(holds(html, "<span>0.5</span><span>0.375</span>"));
  EXPECT_TRUE(holds(html, "<span>2</span><span>1.5</span><span>1</span><span>0.5</span><span>0</span>"));
}

}  // namespace
}  // namespace lano::model_table_test
