// Damaged and hostile run folders: `lano runs` and the page that compares runs show what can be shown, and note the
// rest.
#include <fmt/format.h>

#include "core/atomic_file.h"
#include "hostile.h"
#include "report/comparison.h"
#include "report/run_list.h"
#include "scratch.h"

namespace lano::hostile_runs_test {
namespace {

namespace fs = std::filesystem;

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(HostileRuns, EveryDamagedFileIsSurvivedAndShownPlainly) {
  const std::string header = "epoch,step,learning_rate,train_loss,validation_l2,seconds\n";
  const std::string config = "[data]\nfile = \"data/set.h5\"\n[train]\nepochs = 4\nseed = 0\n";
  std::vector<std::string> contents = {
      "", "\n\n\n", std::string(1000, '\0'), "\xff\xfe\x1b[2J", "[", "{", "[1, 2]", "null", nested(100000),
      "{\"a\":" + nested(100000) + "}", std::string(1 << 20, 'x'),
      // configs
      "[train]\nepochs = 99999999999\nseed = \"\\u001b[2J\"\n[data]\nfile = \"\\u001b]0;x\\u0007\"\n", "train = 1\n",
      "a" + std::string(5000, '.') + "\n", "[train]\nepochs = -5\n",
      // metrics
      "epoch\n", "epoch\n1\n2\nx\n", header + "1,2\n", header + "nan,inf,-inf,1e308,-1e308,1e999\n",
      header + "1e300,1,1,1,1,1e300\n2e300,1,1,1,1,1e308\n", header + "0x10,1,1,1,1,1\n",
      header + "\x1b[2J,1,1,1,1,1\n", "epoch,epoch,epoch\n1,2,3\n", header + std::string(100000, ','),
      header + "-1,-1,-1,0,0,0\n0,0,0,0,0,0\n",
      // evaluations, events, seed groups
      R"({"parameters":1e300,"epochs":-1,"best_epoch":"three","validation_l2":null,"training_seconds":-1e308,)"
      R"("set":["darcy"],"test":{"relative_l2":{"mean":"x"}}})",
      R"({"parameters":18446744073709551615,"epochs":9223372036854775807,"best_epoch":-9223372036854775808,)"
      R"("validation_l2":1e308,"training_seconds":1e308,"set":"\u001b[2J","test":[]})",
      R"({"seeds":{"a":1},"validation_l2":{"mean":[],"deviation":{}},"test_l2":7,"selection":3})",
      R"({"seeds":[1,2,3],"validation_l2":{"mean":1e308,"deviation":-1e308}})"};
  for (std::size_t i = 0; i < contents.size(); ++i) {
    for (const char* name : {"config.toml", "metrics.csv", "evaluation.json", "events.jsonl", "seeds.json"}) {
      SCOPED_TRACE(fmt::format("content {} in {}", i, name));
      test::Scratch scratch;
      for (const char* run : {"a", "b"}) {
        fs::create_directories(scratch / run);
        test::write_bytes(scratch / run / "config.toml", config);
        test::write_bytes(scratch / run / "metrics.csv", header + "1,10,1e-3,0.5,0.4,2.5\n2,20,1e-3,0.3,0.2,2\n");
      }
      test::write_bytes(scratch / "a" / name, contents[i]);
      const test::Verdict verdict = test::bounded([&] {
        ComparisonContent content;
        content.found = collect_runs({scratch / ""});
        const auto keys = differing_keys(content.found.runs);
        std::string shown = table_text(make_run_table(content.found, RunOrder::validation, keys));
        table_csv(content.found, RunOrder::time, keys);
        render_comparison(content);
        for (const RunSummary& run : content.found.runs) {
          for (const std::string& note : run.notes) shown += note;
        }
        for (const char c : shown) {
          if (static_cast<unsigned char>(c) < 0x20 && c != '\n')
            fail("showing runs", "plain text", "a control character");
        }
        if (shown.size() > 100000) fail("showing runs", "a table", fmt::format("{} bytes", shown.size()));
      });
      EXPECT_EQ(verdict.fault, "");
      EXPECT_TRUE(verdict.taken) << verdict.sentence;
    }
  }
}

}  // namespace
}  // namespace lano::hostile_runs_test
