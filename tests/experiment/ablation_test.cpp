#include "experiment/ablation.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lano::ablation_test {
namespace {

std::vector<std::string> names_of(const std::vector<AblationRow>& rows) {
  std::vector<std::string> names;
  for (const AblationRow& row : rows) names.push_back(row.name);
  return names;
}

// Every row but the first changes the reference, and a switch that is off already is switched on instead.
TEST(Ablation, RowsChangeTheReference) {
  LanoConfig grid;
  const std::vector<std::string> on_grids{
      "reference",        "without bias",  "without DWC", "without bias and DWC", "latent agents",
      "with FFN stencil", "with exchange", "sum bias",    "sequence pooling",     "edge padding"};
  EXPECT_EQ(names_of(ablation_rows(Geometry::grid, grid)), on_grids);
  grid.padding = Padding::edge;
  EXPECT_EQ(ablation_rows(Geometry::grid, grid).back().name, "zeros beyond the edge");
  LanoConfig cloud;
  cloud.ffn_stencil = cloud.exchange = true;
  cloud.bias = Bias::sum;
  cloud.order = Order::file;
  cloud.stencil = Stencil::neighbours;
  const std::vector<std::string> on_clouds{
      "reference",           "without bias",     "without DWC", "without bias and DWC", "latent agents",
      "without FFN stencil", "without exchange", "outer bias",  "hilbert order",        "stencil along the order"};
  EXPECT_EQ(names_of(ablation_rows(Geometry::points, cloud)), on_clouds);
  for (const AblationRow& row : ablation_rows(Geometry::points, cloud))
    EXPECT_EQ(row.changes.empty(), row.name == "reference") << row.name;
}

}  // namespace
}  // namespace lano::ablation_test
