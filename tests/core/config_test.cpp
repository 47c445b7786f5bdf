#include "core/config.h"

#include "model_spec/lano_config.h"
#include "scratch.h"

namespace lano::config_test {
namespace {

struct Bound {
  bool flag = false;
  std::int64_t count = 3;
  double rate = 0.5;
  std::string name = "x";
  Bias bias = Bias::outer;
  Schema schema;
  Bound() {
    schema.bind("flag", flag, "a flag");
    schema.bind("train.count", count, "how many");
    schema.bind("train.rate", rate, "how fast");
    schema.bind("name", name, "a name");
    schema.bind<Bias>("model.bias", bias, {{"outer", Bias::outer}, {"sum", Bias::sum}}, "which bias");
  }
};

TEST(Config, ReadsTablesAndKeepsDefaults) {
  Bound b;
  b.schema.load_text("flag = true\n[train]\nrate = 2\n", "test");
  EXPECT_TRUE(b.flag);
  EXPECT_EQ(b.rate, 2.0);  // a whole number where a number is wanted
  EXPECT_EQ(b.count, 3);
}

TEST(Config, UnknownKeyNamesTheNearest) {
  Bound b;
  EXPECT_ERROR_WITH(b.schema.load_text("[train]\ncuont = 2\n", "reading x.toml"), "did you mean 'train.count'?");
}

TEST(Config, WrongTypeAndUnknownWordSayWhatIsAllowed) {
  Bound b;
  EXPECT_ERROR_WITH(b.schema.override_with("train.count=1.5"), "a whole number for train.count");
  EXPECT_ERROR_WITH(b.schema.override_with("model.bias=summ"), "one of \"outer\" \"sum\"");
  EXPECT_ERROR_WITH(b.schema.override_with("train.count"), "key=value");
  EXPECT_ERROR_WITH(b.schema.load_text("a = = 1", "reading x.toml"), "valid TOML");
}

TEST(Config, OverridesTakeBareWordsAndNumbers) {
  Bound b;
  b.schema.override_with("model.bias=sum");
  b.schema.override_with("train.count=7");
  b.schema.override_with("name=runs/a b");
  EXPECT_EQ(b.bias, Bias::sum);
  EXPECT_EQ(b.count, 7);
  EXPECT_EQ(b.name, "runs/a b");
}

TEST(Config, WritesWhatItReads) {
  Bound b;
  b.rate = 1e-3;
  b.name = "a \"quoted\" \\ name";
  const std::string text = b.schema.to_toml();
  Bound again;
  again.schema.load_text(text, "test");
  EXPECT_EQ(again.rate, 1e-3);
  EXPECT_EQ(again.name, b.name);
  EXPECT_EQ(again.schema.to_toml(), text);
}

TEST(Config, FlatTomlKnowsNoSchema) {
  const auto flat = flat_toml(
      "top = true\n[model]\nwidth = 64\nbias = \"outer\"\n[train.inner]\nrate = 1e-3\nlist = [1, 2]\n", "reading");
  EXPECT_EQ(flat, (std::vector<std::pair<std::string, std::string>>{{"model.bias", "outer"},
                                                                    {"model.width", "64"},
                                                                    {"top", "true"},
                                                                    {"train.inner.list", "[1, 2]"},
                                                                    {"train.inner.rate", "0.001"}}));
  EXPECT_ERROR_WITH(flat_toml("[model", "reading x"), "reading x: expected valid TOML");
}

}  // namespace
}  // namespace lano::config_test
