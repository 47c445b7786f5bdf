// What the paper's experiments train and ask, without training.
#include "experiment/studies.h"

#include <cmath>
#include <map>

#include "experiment/paper_numbers.h"
#include "train/tiny_runs.h"

namespace lano::studies_test {
namespace {

StudyBase base(const test::Scratch& scratch, const char* benchmark = "darcy") {
  return {benchmark, test::tiny(test::darcy(scratch, 4, 1))};  // 121 points, 9 agents, 2 blocks of width 16
}

TEST(Studies, AgentsAreTrainedAnewAndAskedOfOneModel) {
  const test::Scratch scratch;
  const auto variants = agents_study(base(scratch), {64, 8, 16, 500, 8});
  ASSERT_EQ(variants.size(), 4u);  // 500 agents are more than the points
  std::map<std::string, Variant> by_name;
  for (const Variant& variant : variants) by_name[variant.name] = variant;
  EXPECT_EQ(by_name["agents-64"].recipe.lano.agents, 64);
  EXPECT_EQ(by_name["agents-64"].epochs_of, "agents-8");  // nearest to the recipe's nine
  EXPECT_EQ(by_name["agents-8"].epochs_of, "");
  EXPECT_TRUE(by_name["agents-8"].place.reference);
  EXPECT_DOUBLE_EQ(by_name["agents-16"].place.paper, 5.74e-3);
  const Variant& any = by_name["any-agents"];
  EXPECT_FALSE(any.shown);
  EXPECT_EQ(any.recipe.agents_range, (std::vector<double>{8, 64}));
  ASSERT_EQ(any.questions.size(), 3u);
  EXPECT_EQ(any.questions[2].agents, 64);
  EXPECT_ERROR_WITH(agents_study(base(scratch), {500, 8}), "at least two numbers of agents");
}

TEST(Studies, SizeChangesOneThingAtATime) {
  const test::Scratch scratch;
  StudyBase from = base(scratch);
  from.recipe.optimiser.kind = OptimiserKind::muon;
  const auto variants = size_study(from, {1, 2}, {16, 64});
  ASSERT_EQ(variants.size(), 3u);  // its own sizes are the reference
  EXPECT_EQ(variants[0].also.size(), 1u);
  EXPECT_EQ(variants[1].recipe.lano.layers, 1);
  EXPECT_EQ(variants[1].recipe.lano.width, 16);
  EXPECT_EQ(variants[2].recipe.lano.width, 64);
  EXPECT_EQ(variants[2].recipe.lano.layers, 2);
  EXPECT_DOUBLE_EQ(variants[2].recipe.schedule.learning_rate, from.recipe.schedule.learning_rate / 2);
  EXPECT_EQ(variants[2].epochs_of, "reference");
}

TEST(Studies, ZeroShotAsksEveryOtherMesh) {
  const test::Scratch scratch;
  const std::vector<MeshSet> meshes{{"74x17", "a.h5", 1258}, {"111x26", "b.h5", 2886}, {"221x51", "c.h5", 11271}};
  StudyBase lano = base(scratch, "airfoil"), transolver = lano;
  transolver.recipe.model = "transolver";
  const auto variants = zero_shot_study({lano, transolver}, meshes, 1);
  ASSERT_EQ(variants.size(), 2u);
  EXPECT_EQ(variants[0].recipe.data, "b.h5");
  EXPECT_TRUE(variants[0].place.reference);
  ASSERT_EQ(variants[1].questions.size(), 2u);
  EXPECT_EQ(variants[1].questions[1].data, "c.h5");
  EXPECT_DOUBLE_EQ(variants[1].questions[1].place.paper, 6.22e-2);
  EXPECT_TRUE(
      std::isnan(zero_shot_study({lano}, meshes, 0)[0].questions[0].place.paper));  // the paper trains on 111x26
}

TEST(Studies, ResolutionTakesTheEpochsOfTheFinest) {
  const test::Scratch scratch;
  const auto variants = resolution_study(base(scratch), {{"6x6", "a.h5", 36}, {"11x11", "b.h5", 121}});
  EXPECT_EQ(variants[0].epochs_of, "at-11x11");
  EXPECT_EQ(variants[1].epochs_of, "");
  EXPECT_EQ(variants[0].recipe.data, "a.h5");
}

TEST(Studies, AblationTrainsEverySwitchAsTheReferenceIs) {
  const test::Scratch scratch;
  const auto variants = ablation_study(base(scratch));
  ASSERT_EQ(variants.size(), 10u);
  EXPECT_EQ(variants[1].recipe.lano.bias, Bias::none);
  EXPECT_EQ(variants[3].name, "without-bias-and-DWC");
  EXPECT_FALSE(variants[3].recipe.lano.dwc);
  for (const Variant& variant : variants)
    EXPECT_TRUE(std::isnan(variant.place.paper)) << "the paper's is on Elasticity";
  EXPECT_DOUBLE_EQ(ablation_study(base(scratch, "elasticity"))[2].place.paper, 7.51e-3);
}

// Sums and products over the printed tables: a slip of the keys would change them.
TEST(Studies, ThePapersNumbersAreThoseItPrints) {
  double sum = 0;
  for (const char* model : {"fno", "wmt", "u-fno", "geo-fno", "u-no", "f-fno", "lsm", "galerkin", "ht-net", "oformer",
                            "gnot", "factformer", "ono", "transolver", "lano"}) {
    for (const char* benchmark : {"elasticity", "plasticity", "airfoil", "pipe", "darcy"}) {
      if (const double error = paper::table(model, benchmark); std::isfinite(error)) sum += error;
    }
  }
  EXPECT_NEAR(sum, 0.7528, 1e-9);
  // "Relative Promotion 37.5, 8.3, 24.5, 6.1, 21.1 %" against Transolver.
  const std::map<std::string, double> promotion{
      {"elasticity", 37.5}, {"plasticity", 8.3}, {"airfoil", 24.5}, {"pipe", 6.1}, {"darcy", 21.1}};
  for (const auto& [benchmark, percent] : promotion)
    EXPECT_NEAR(100 * (1 - paper::table("lano", benchmark) / paper::table("transolver", benchmark)), percent, 0.05);
  // "Relative drop 0.99, 86.35, 153.10, 21.59 %" of the ablation.
  const std::map<std::string, double> drop{
      {"without bias", 0.99}, {"without DWC", 86.35}, {"without bias and DWC", 153.10}, {"latent agents", 21.59}};
  for (const auto& [row, percent] : drop)
    EXPECT_NEAR(100 * (paper::ablation(row) / paper::ablation("reference") - 1), percent, 0.01);
  EXPECT_DOUBLE_EQ(paper::agents("elasticity", 64), paper::ablation("reference"));
  EXPECT_DOUBLE_EQ(paper::resolution("airfoil", "111x26"), paper::zero_shot("lano", "airfoil", "111x26"));
  EXPECT_TRUE(std::isnan(paper::agents("burgers", 64)));
}

}  // namespace
}  // namespace lano::studies_test
