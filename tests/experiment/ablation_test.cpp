#include "experiment/ablation.h"

#include "core/atomic_file.h"
#include "train/tiny_runs.h"

namespace lano::ablation_test {
namespace {

using test::darcy;
using test::tiny;

TEST(Ablation, WritesTheTableAndKeepsFinishedRuns) {
  test::Scratch scratch;
  TrainConfig config = tiny(darcy(scratch, 8, 2));
  config.epochs = 1;
  const auto rows = run_ablation(config, 2, scratch / "table");
  ASSERT_EQ(rows.size(), 8u);
  for (const AblationRow& row : rows) EXPECT_EQ(row.test_l2.size(), 2u) << row.name;
  EXPECT_LT(rows[1].parameters, rows[0].parameters);  // without bias
  EXPECT_LT(rows[2].parameters, rows[1].parameters);  // without DWC
  EXPECT_NE(rows[0].test_l2[0], rows[0].test_l2[1]);  // seeds differ
  const std::string table = read_file(scratch / "table/ablation.md", "r");
  for (const char* name : {"| reference |", "| without bias |", "| without DWC |", "| without bias and DWC |",
                           "| latent agents |", "| with FFN stencil |", "| sum bias |", "| sequence pooling |"}) {
    EXPECT_NE(table.find(name), std::string::npos) << name;
  }
  const auto model = scratch / "table/reference-0/model.safetensors";
  const auto before = std::filesystem::last_write_time(model);
  run_ablation(config, 2, scratch / "table");
  EXPECT_EQ(std::filesystem::last_write_time(model), before);
  config.batch = 3;
  EXPECT_ERROR_WITH(run_ablation(config, 2, scratch / "table"), "runs of this recipe and data");
}

}  // namespace
}  // namespace lano::ablation_test
