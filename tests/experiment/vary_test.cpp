#include "experiment/vary.h"

#include <map>
#include <set>

#include "scratch.h"

namespace lano::vary_test {
namespace {

double drawn(const VariedKey& key, std::uint64_t i) {
  RandomStream stream(5, Purpose::test, i);
  const ConfigValue value = draw(key, stream);
  return std::holds_alternative<double>(value) ? std::get<double>(value)
                                               : static_cast<double>(std::get<std::int64_t>(value));
}

TEST(Vary, ReadsRangesAndLists) {
  const VariedKey rate = parse_vary("schedule.learning_rate=1e-4..1e-2:log");
  EXPECT_EQ(rate.name, "schedule.learning_rate");
  EXPECT_TRUE(rate.logarithmic);
  EXPECT_FALSE(rate.whole);
  EXPECT_EQ(rate.low, 1e-4);
  EXPECT_EQ(rate.high, 1e-2);
  const VariedKey heads = parse_vary("model.heads=2..8");
  EXPECT_TRUE(heads.whole);
  EXPECT_FALSE(heads.logarithmic);
  const VariedKey width = parse_vary("model.width=32, 64,128");
  EXPECT_EQ(width.choices, (std::vector<ConfigValue>{std::int64_t{32}, std::int64_t{64}, std::int64_t{128}}));
  EXPECT_EQ(parse_vary("model.bias=outer,none").choices,
            (std::vector<ConfigValue>{std::string("outer"), std::string("none")}));
  EXPECT_EQ(parse_vary("model.dwc=true,false").choices, (std::vector<ConfigValue>{true, false}));
  EXPECT_EQ(parse_vary("train.clip=.5..1").low, 0.5);
  EXPECT_EQ(parse_vary("train.clip=0,1e-1").choices, (std::vector<ConfigValue>{0.0, 0.1}));
}

TEST(Vary, MistakesAreNamed) {
  EXPECT_ERROR_WITH(parse_vary("model.widht=1..2"), "did you mean 'model.width'?");
  EXPECT_ERROR_WITH(parse_vary("model.width"), "KEY=LOW..HIGH");
  EXPECT_ERROR_WITH(parse_vary("model.width="), "KEY=LOW..HIGH");
  EXPECT_ERROR_WITH(parse_vary("=1..2"), "KEY=LOW..HIGH");
  EXPECT_ERROR_WITH(parse_vary("model.width=8..8"), "low end is below its high end");
  EXPECT_ERROR_WITH(parse_vary("train.clip=1..0.5"), "low end is below its high end");
  EXPECT_ERROR_WITH(parse_vary("train.clip=0..1:log"), "a low end above 0 for :log, found 0");
  EXPECT_ERROR_WITH(parse_vary("train.clip=-1..1:log"), "a low end above 0 for :log, found -1");
  EXPECT_ERROR_WITH(parse_vary("train.clip=1..2:lgo"), "':lgo' after the range");
  EXPECT_ERROR_WITH(parse_vary("train.clip=1..x"), "a number at each end");
  EXPECT_ERROR_WITH(parse_vary("train.clip=..1"), "a number at each end");
  EXPECT_ERROR_WITH(parse_vary("train.clip=0..inf"), "a number at each end");
  EXPECT_ERROR_WITH(parse_vary("model.heads=1.5..8"), "a whole number at each end");
  EXPECT_ERROR_WITH(parse_vary("model.bias=outer..sum"), "a list a,b,c for model.bias");
  EXPECT_ERROR_WITH(parse_vary("model.bias=outer,summ"),
                    "one of \"outer\" \"sum\" \"none\" for model.bias, found 'summ'");
  EXPECT_ERROR_WITH(parse_vary("model.dwc=true,maybe"), "true or false for model.dwc");
  EXPECT_ERROR_WITH(parse_vary("model.width=32,"), "a whole number for model.width, found ''");
  EXPECT_ERROR_WITH(parse_vary("model.width=32,6.5"), "found '6.5'");
  EXPECT_ERROR_WITH(parse_vary("model.width=32"), "at least two values");
  EXPECT_ERROR_WITH(parse_vary("train.epochs=1..9"), "the rungs set the epochs");
  EXPECT_ERROR_WITH(parse_vary("train.seed=1..9"), "lano train --seeds");
  EXPECT_ERROR_WITH(parse_vary("data.file=a,b"), "are not comparable");
}

TEST(Vary, WholeRangesReachBothEnds) {
  for (const char* text : {"model.heads=2..5", "model.heads=2..5:log"}) {
    std::map<double, int> seen;
    for (std::uint64_t i = 0; i < 2000; ++i) ++seen[drawn(parse_vary(text), i)];
    ASSERT_EQ(seen.size(), 4u) << text;
    EXPECT_EQ(seen.begin()->first, 2);
    EXPECT_EQ(seen.rbegin()->first, 5);
    // Uniform: 500 of each. With :log P(k) = log((k+1)/k) / log 3: 738 twos, 332 fives. The deviation of a count is
    // below 22.
    const bool log = std::string(text).ends_with("log");
    EXPECT_NEAR(seen[2], log ? 738 : 500, 90) << text;
    EXPECT_NEAR(seen[5], log ? 332 : 500, 90) << text;
  }
}

TEST(Vary, HalfOfALogarithmicRangeLiesBelowItsGeometricMean) {
  int log_below = 0, uniform_below = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const double a = drawn(parse_vary("schedule.learning_rate=1e-4..1e-2:log"), i);
    const double b = drawn(parse_vary("schedule.learning_rate=1e-4..1e-2"), i);
    for (const double value : {a, b}) {
      EXPECT_GE(value, 1e-4);
      EXPECT_LE(value, 1e-2);
    }
    log_below += a < 1e-3;
    uniform_below += b < 1e-3;
  }
  EXPECT_NEAR(log_below, 1000, 90);     // deviation of the count: 22
  EXPECT_NEAR(uniform_below, 182, 60);  // 9 of 99 parts; deviation 13
}

// A table shows values with few digits, and they are the values used; a narrow range keeps its thousand steps.
TEST(Vary, DrawsAreShortButNotTooFew) {
  for (const char* text : {"schedule.learning_rate=1e-4..1e-2:log", "optimiser.beta2=0.9..0.999",
                           "optimiser.beta2=0.99990..0.99999", "optimiser.beta2=0.99990..0.99999:log"}) {
    const VariedKey key = parse_vary(text);
    std::set<double> different;
    for (std::uint64_t i = 0; i < 300; ++i) {
      const double value = drawn(key, i);
      EXPECT_LE(value_text(value).size(), 11u) << text;
      different.insert(value);
    }
    EXPECT_GT(different.size(), 200u) << text;
  }
}

TEST(Vary, SetsTheKeyInItsOwnType) {
  TrainConfig config;
  set_key(config, "model.width", std::int64_t{48});
  set_key(config, "model.bias", std::string("sum"));
  set_key(config, "schedule.learning_rate", 0.25);
  EXPECT_EQ(config.lano.width, 48);
  EXPECT_EQ(config.lano.bias, Bias::sum);
  EXPECT_EQ(config.schedule.learning_rate, 0.25);
  EXPECT_ERROR_WITH(set_key(config, "model.width", 0.5), "model.width = 0.5");
}

}  // namespace
}  // namespace lano::vary_test
