// Run folders written by hand: whole, stopped, running, damaged, in groups of seeds.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "core/atomic_file.h"
#include "report/comparison.h"
#include "report/run_list.h"
#include "report/run_report.h"
#include "scratch.h"

namespace lano::runs_test {
namespace {

namespace fs = std::filesystem;
using test::Scratch;

constexpr const char* kHeader = "epoch,step,learning_rate,train_loss,validation_l2,seconds\n";

std::string config(int seed = 0, int width = 32, const std::string& more = "") {
  return fmt::format("[data]\nfile = \"data/darcy-{}.h5\"\n[model]\nwidth = {}\n[train]\nepochs = 4\nseed = {}\n{}",
                     seed, width, seed, more);
}

std::string evaluation(double validation, double test, const std::string& more = "") {
  return fmt::format(R"({{"parameters":1104257,"epochs":4,"best_epoch":3,"selection":"best on validation",)"
                     R"("validation_l2":{},"training_seconds":61.5,)"
                     R"("set":"darcy","test":{{"relative_l2":{{"mean":{}}}}}{}}})",
                     validation, test, more);
}

void write(const fs::path& path, const std::string& text) {
  make_folder(path.parent_path());
  write_file_atomically(path, text);
}

void write_run(const fs::path& folder, double validation, double test, int seed = 0, int width = 32) {
  write(folder / "config.toml", config(seed, width));
  write(folder / "metrics.csv",
        std::string(kHeader) +
            fmt::format("1,10,1e-3,0.5,0.4,20\n2,20,1e-3,0.3,,20\n3,30,1e-3,0.2,{},20\n4,40,1e-3,0.1,0.35,1.5\n",
                        validation));
  write(folder / "evaluation.json", evaluation(validation, test));
}

TEST(RunMetrics, ColumnsAreFoundByName) {
  const RunMetrics old = parse_run_metrics(std::string(kHeader) + "1,10,1e-3,0.5,0.4,2.5\n2,20,1e-3,0.25,,2\n");
  EXPECT_EQ(old.damage, "");
  EXPECT_EQ(old.epoch, (std::vector<double>{1, 2}));
  EXPECT_EQ(old.train_loss, (std::vector<double>{0.5, 0.25}));
  EXPECT_EQ(old.validation_l2[0], 0.4);
  EXPECT_TRUE(std::isnan(old.validation_l2[1]));
  EXPECT_TRUE(std::isnan(old.validation_ema_l2[0]));
  EXPECT_EQ(old.seconds, (std::vector<double>{2.5, 2}));
  const RunMetrics other =
      parse_run_metrics("seconds,validation_ema_l2,epoch,mood,validation_l2,train_loss\n7,0.1,1,9,0.2,0.3\n");
  EXPECT_EQ(other.epoch[0], 1);
  EXPECT_EQ(other.train_loss[0], 0.3);
  EXPECT_EQ(other.validation_l2[0], 0.2);
  EXPECT_EQ(other.validation_ema_l2[0], 0.1);
  EXPECT_EQ(other.seconds[0], 7);
}

TEST(RunMetrics, DamageKeepsTheRowsBeforeIt) {
  for (const char* tail : {"2,20,1e-", "2,20,1e-3,x,0.2,1\n", "2,20,1e-3,0.1,0.2,1,9\n"}) {
    const RunMetrics m = parse_run_metrics(std::string(kHeader) + "1,10,1e-3,0.5,0.4,2.5\n" + tail);
    EXPECT_NE(m.damage.find("line 3"), std::string::npos) << tail;
    EXPECT_EQ(m.epoch.size(), 1u) << tail;
  }
  EXPECT_NE(parse_run_metrics("").damage, "");
  EXPECT_NE(parse_run_metrics("1,2,3\n").damage.find("epoch"), std::string::npos);
  Scratch scratch;
  write(scratch / "metrics.csv", "1,2,3\n");
  EXPECT_ERROR_WITH(read_run_metrics(scratch / "metrics.csv"), "metrics.csv");
}

TEST(RunMetrics, AveragedWeightsAreAThirdCurve) {
  EXPECT_EQ(learning_curves(parse_run_metrics("epoch,train_loss,validation_l2,validation_ema_l2\n1,1,1,\n")).size(),
            2u);
  const auto curves =
      learning_curves(parse_run_metrics("epoch,train_loss,validation_l2,validation_ema_l2\n1,1,2,\n2,1,2,0.5\n"));
  ASSERT_EQ(curves.size(), 3u);
  EXPECT_EQ(curves[2].y[1], 0.5);
  EXPECT_NE(curves[2].colour, curves[1].colour);
}

TEST(RunSummary, OfAFinishedRun) {
  Scratch scratch;
  write_run(scratch / "a", 0.125, 0.25, 7);
  const RunSummary run = read_run_summary(scratch / "a");
  EXPECT_EQ(run.state, RunState::finished);
  EXPECT_EQ(run.epochs, 4);
  EXPECT_EQ(run.total_epochs, 4);
  EXPECT_EQ(run.validation_l2, 0.125);
  EXPECT_EQ(run.best_epoch, 3);
  EXPECT_EQ(run.test_l2, 0.25);
  EXPECT_EQ(run.parameters, 1104257);
  EXPECT_EQ(run.seconds, 61.5);
  EXPECT_EQ(run.seed, "7");
  EXPECT_EQ(run.set, "darcy");
  EXPECT_EQ(run.config.at("model.width"), "32");
  EXPECT_TRUE(run.notes.empty());
}

TEST(RunSummary, OfAStoppedRun) {
  Scratch scratch;
  write(scratch / "a/config.toml", config());
  write(scratch / "a/metrics.csv",
        std::string(kHeader) + "1,10,1e-3,0.5,0.4,2.5\n2,20,1e-3,0.4,0.3,2\n3,30,1e-3,0.4,0.35,2\n");
  write(scratch / "a/events.jsonl", "not json\n{\"event\":\"start\",\"parameters\":1234}\n");
  const RunSummary run = read_run_summary(scratch / "a");
  EXPECT_EQ(run.state, RunState::stopped);
  EXPECT_EQ(run.validation_l2, 0.3);
  EXPECT_EQ(run.best_epoch, 2);
  EXPECT_EQ(run.weights, "raw");
  EXPECT_TRUE(std::isnan(run.test_l2));
  EXPECT_EQ(run.parameters, 1234);
  EXPECT_EQ(run.seconds, 6.5);
  EXPECT_EQ(run.set, "darcy-0");
  RunCollection found{{run}, {}};
  EXPECT_EQ(make_run_table(found, RunOrder::name, {}).rows[0].cells[1], "stopped at epoch 3 of 4");
  // Where the config keeps the last epoch, so does the list.
  write(scratch / "b/config.toml", config(0, 32, "selection = \"last\"\n"));
  write(scratch / "b/metrics.csv", read_file(scratch / "a/metrics.csv", "r"));
  EXPECT_EQ(read_run_summary(scratch / "b").validation_l2, 0.35);
  EXPECT_EQ(read_run_summary(scratch / "b").best_epoch, 3);
}

TEST(RunSummary, AveragedWeightsMayBeTheBest) {
  Scratch scratch;
  write(scratch / "a/config.toml", config());
  write(scratch / "a/metrics.csv",
        "epoch,validation_l2,validation_ema_l2\n1,0.4,\n2,0.3,0.2\n3,0.1,0.35\n4,0.2,0.05\n");
  const RunSummary run = read_run_summary(scratch / "a");
  EXPECT_EQ(run.validation_l2, 0.05);
  EXPECT_EQ(run.best_epoch, 4);
  EXPECT_EQ(run.weights, "ema");
  EXPECT_EQ(compared_curves({run})[1].y[3], 0.05);
}

TEST(RunSummary, RunsWhileItsLockIsHeld) {
  Scratch scratch;
  write_run(scratch / "a", 0.1, 0.2);
  EXPECT_EQ(read_run_summary(scratch / "a").state, RunState::finished);
  EXPECT_FALSE(fs::exists(scratch / "a/lock"));  // looking creates nothing
  write(scratch / "a/lock", "");
  EXPECT_EQ(read_run_summary(scratch / "a").state, RunState::finished);
  const int file = ::open((scratch / "a/lock").c_str(), O_RDWR);
  ASSERT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(read_run_summary(scratch / "a").state, RunState::running);
  ::flock(file, LOCK_UN);
  EXPECT_EQ(read_run_summary(scratch / "a").state, RunState::finished);
  EXPECT_EQ(::flock(file, LOCK_EX | LOCK_NB), 0);  // and was let go
  ::close(file);
}

TEST(RunList, FindsEachRunOnceDownToFourFolders) {
  Scratch scratch;
  for (const char* name : {"runs/a", "runs/x/b", "runs/1/2/3/c", "runs/1/2/3/4/d"}) write_run(scratch / name, 0.1, 0.2);
  write(scratch / "runs/no-run/config.toml", config());
  write(scratch / "runs/started/config.toml", config());
  make_folder(scratch / "runs/started/checkpoint");
  const auto names = [&](const std::vector<fs::path>& folders) {
    std::vector<std::string> out;
    for (const RunSummary& run : collect_runs(folders).runs) out.push_back(run.folder.filename().string());
    return out;
  };
  EXPECT_EQ(names({scratch / "runs"}), (std::vector<std::string>{"c", "a", "started", "b"}));
  EXPECT_EQ(names({scratch / "runs/", scratch / "runs/a", scratch / "runs/x"}),
            (std::vector<std::string>{"c", "a", "started", "b"}));
  EXPECT_EQ(names({scratch / "runs/a"}), (std::vector<std::string>{"a"}));
  EXPECT_TRUE(names({scratch / "runs/no-run"}).empty());
}

TEST(RunList, DamagedFoldersAreListedWithWhatIsKnown) {
  Scratch scratch;
  write(scratch / "a/config.toml", "[train\n");
  write(scratch / "a/metrics.csv", std::string(kHeader) + "1,10,1e-3,0.5,0.4,2.5\n2,2");
  write(scratch / "a/evaluation.json", "{\"epochs\":");
  write(scratch / "b/config.toml", config());
  write(scratch / "b/metrics.csv", "");
  write(scratch / "b/evaluation.json", R"({"epochs":"four","test":3,"validation_l2":null,"set":[1],"parameters":{}})");
  write(scratch / "b/events.jsonl", "[]\n{\"parameters\":\"many\"}\n");
  write(scratch / "c/config.toml", config());
  make_folder(scratch / "c/metrics.csv");  // a folder where a file should be
  make_folder(scratch / "c/checkpoint");
  write(scratch / "d/seeds.json", R"({"seeds":3,"test_l2":[1]})");
  write(scratch / "e/seeds.json", "{");
  const RunCollection found = collect_runs({scratch / ""});
  ASSERT_EQ(found.runs.size(), 3u);
  ASSERT_EQ(found.groups.size(), 2u);
  EXPECT_EQ(found.runs[0].notes.size(), 3u);
  EXPECT_EQ(found.runs[0].validation_l2, 0.4);
  EXPECT_EQ(found.runs[0].state, RunState::stopped);
  EXPECT_EQ(found.groups[1].notes.size(), 1u);
  for (const RunOrder order : {RunOrder::name, RunOrder::test}) {
    const std::string text = table_text(make_run_table(found, order, {"model.width"}));
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6);
    EXPECT_EQ(text.find("nan"), std::string::npos) << text;
  }
  EXPECT_EQ(table_csv(found, RunOrder::name, {}).find("nan"), std::string::npos);
  EXPECT_NE(render_comparison({found, {}, {}, {}, ""}).find("expected valid TOML"), std::string::npos);
}

TEST(RunList, SortsTheLeastFirstAndTheUnknownLast) {
  Scratch scratch;
  write_run(scratch / "a", 0.3, 0.1);
  write_run(scratch / "b", 0.1, 0.3);
  write_run(scratch / "c", 0.2, 0.2);
  write(scratch / "0/config.toml", config());
  make_folder(scratch / "0/checkpoint");
  const RunCollection found = collect_runs({scratch / ""});
  const auto order = [&](RunOrder by) {
    std::string out;
    for (const auto& row : make_run_table(found, by, {}).rows) out += fs::path(row.cells[0]).filename().string();
    return out;
  };
  EXPECT_EQ(order(RunOrder::name), "0abc");
  EXPECT_EQ(order(RunOrder::validation), "bca0");
  EXPECT_EQ(order(RunOrder::test), "acb0");
  EXPECT_EQ(order(RunOrder::time), "abc0");
}

TEST(RunList, ColumnsForTheKeysThatDiffer) {
  Scratch scratch;
  write_run(scratch / "a", 0.3, 0.1, 0, 32);
  write_run(scratch / "b", 0.1, 0.3, 1, 64);
  RunCollection found = collect_runs({scratch / ""});
  found.runs[0].config["model.new"] = "1";  // a key of one version only is no difference
  EXPECT_EQ(differing_keys(found.runs), (std::vector<std::string>{"model.width"}));
  const RunTable table = make_run_table(found, RunOrder::name, {"model.width", "model.new"});
  EXPECT_EQ(table.columns[10], "model.width");
  EXPECT_EQ(table.rows[0].cells[10], "32");
  EXPECT_EQ(table.rows[1].cells[10], "64");
  EXPECT_EQ(table.rows[1].cells[11], "-");
  EXPECT_NO_THROW(check_keys({"train.seed"}, found.runs));
  EXPECT_ERROR_WITH(check_keys({"model.widht"}, found.runs), "did you mean 'model.width'");
}

void write_group(const fs::path& folder) {
  for (int seed = 0; seed < 3; ++seed)
    write_run(folder / fmt::format("seed-{}", seed), 0.2 + 0.1 * ((seed + 1) % 3), 0.3, seed);
  write(folder / "seeds.json",
        R"({"seeds":[{"seed":0,"run":"seed-0"},{"seed":1,"run":"seed-1"},{"seed":2,"run":"seed-2"}],)"
        R"("validation_l2":{"mean":0.3,"deviation":0.1},"test_l2":{"mean":0.3,"deviation":0.002},)"
        R"("selection":"best on validation"})");
}

TEST(RunList, SeedsStandUnderTheirMean) {
  Scratch scratch;
  write_group(scratch / "g");
  write_run(scratch / "a", 0.25, 0.1);
  write_run(scratch / "z", 0.9, 0.1);
  RunCollection found = collect_runs({scratch / ""});
  const RunTable table = make_run_table(found, RunOrder::validation, {"model.width", "train.seed"});
  std::string order;
  for (const auto& row : table.rows) order += fs::path(row.cells[0]).filename().string() + " ";
  EXPECT_EQ(order, "a g seed-2 seed-0 seed-1 z ");
  const auto& mean = table.rows[1];
  EXPECT_EQ(mean.kind, RunTable::Kind::group);
  EXPECT_EQ(mean.cells[1], "mean of 3 seeds");
  EXPECT_EQ(mean.cells[3], "3.000e-01 +- 1.0e-01");
  EXPECT_EQ(mean.cells[5], "3.000e-01 +- 2.0e-03");
  EXPECT_EQ(mean.cells[7], "3 min 5 s");  // of all three
  EXPECT_EQ(mean.cells[10], "32");
  EXPECT_EQ(mean.cells[11], "-");
  EXPECT_EQ(table.rows[2].kind, RunTable::Kind::member);
  found.runs[1].state = RunState::stopped;
  EXPECT_EQ(make_run_table(found, RunOrder::name, {}).rows[1].cells[1], "2 of 3 seeds finished");
}

TEST(RunList, TextHasAlignedColumnsAndCsvIsQuoted) {
  Scratch scratch;
  write_run(scratch / "a,\"b\"", 0.125, 0.25);
  write_run(scratch / "caf\u00e9 long name", 0.125, 0.25);
  const RunCollection found = collect_runs({scratch / ""});
  std::istringstream lines(table_text(make_run_table(found, RunOrder::name, {})));
  std::vector<std::size_t> at;
  for (std::string line; std::getline(lines, line);) {
    const auto state = std::min(line.find("state"), line.find("finished"));
    at.push_back(state - (line.find("\u00e9") < state ? 1 : 0));  // two bytes, one character
  }
  EXPECT_EQ(at, (std::vector<std::size_t>(3, at[0])));
  const std::string csv = table_csv(found, RunOrder::name, {"model.width"});
  EXPECT_NE(csv.find("a,\"\"b\"\"\",run,finished,4,4,0.125,,3,raw,0.25,,1104257,61.5,0,darcy,32\n"), std::string::npos)
      << csv;
}

TEST(Comparison, OverlaysTheRuns) {
  Scratch scratch;
  for (int r = 0; r < 10; ++r)
    write_run(scratch / fmt::format("run-{}", r), 0.3 - 0.01 * r, 0.1 + 0.01 * r, 0, 32 + (r == 3 ? 8 : 0));
  write_run(scratch / "run-<b>", 0.3, 0.1);
  ComparisonContent content;
  content.found = collect_runs({scratch / ""});
  const std::vector<Curve> curves = compared_curves(content.found.runs);
  std::set<std::string> thick, thin;
  for (const Curve& curve : curves) (curve.faint ? thin : thick).insert(curve.colour + curve.dash);
  EXPECT_EQ(thick.size(), 11u);
  EXPECT_EQ(thin, thick);
  const std::string html = render_comparison(content);
  EXPECT_NE(html.find("LANO on darcy: 11 runs"), std::string::npos);
  EXPECT_NE(html.find("run-9</span>"), std::string::npos);  // the lowest on validation, not on test
  EXPECT_NE(html.find("<b>1.900e-01</b><span>relative L2 on test of the same"), std::string::npos);
  EXPECT_NE(html.find("<td>model.width</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>40</td>"), std::string::npos);
  EXPECT_EQ(html.find("median test sample"), std::string::npos);
  for (const char* part : {"http://", "https://", "<script", "<link", "nan", "run-<b>"})
    EXPECT_EQ(html.find(part), std::string::npos) << part;
}

TEST(Comparison, OfSeedsHasTheMeanInTheHeadline) {
  Scratch scratch;
  write_group(scratch / "g");
  ComparisonContent content;
  content.found = collect_runs({scratch / "g"}, 1);
  const std::string html = render_comparison(content);
  EXPECT_NE(html.find("LANO on darcy: 3 seeds"), std::string::npos);
  EXPECT_NE(html.find("<b>3.000e-01 \u00b1 2.0e-03</b><span>relative L2 on test"), std::string::npos);
  EXPECT_NE(html.find("best on validation"), std::string::npos);
  EXPECT_NE(html.find("</svg>seed-1</td>"), std::string::npos);
}

TEST(Comparison, ShowsASampleOfEachRun) {
  Scratch scratch;
  write_run(scratch / "a", 0.1, 0.2);
  write_run(scratch / "b", 0.1, 0.2);
  ComparisonContent content;
  content.found = collect_runs({scratch / ""});
  content.set.shape = {2, 2};
  content.set.coordinates = {{"x", "1"}, {"y", "1"}};
  content.set.output = {{"pressure", "1"}};
  const std::vector<float> xy{0, 0, 0, 1, 1, 0, 1, 1};
  content.samples = {{0, {"median", 7, 0.01, xy, {}, {1, 1, 1, 2}, {1, 1, 1, 2.5f}}},
                     {1, {"median", 8, 0.02, xy, {}, {1, 1, 1, 4}, {1, 1, 1, 2}}}};
  const auto count = [](const std::string& html, const std::string& part) {
    int found = 0;
    for (std::size_t at = html.find(part); at != std::string::npos; at = html.find(part, at + 1)) ++found;
    return found;
  };
  std::string html = render_comparison(content);
  EXPECT_EQ(count(html, "<figcaption>Truth"), 2);
  EXPECT_EQ(count(html, "<figcaption>Absolute error"), 2);
  EXPECT_NE(html.find("test sample 8, relative L2 2.000e-02"), std::string::npos);
  EXPECT_EQ(count(html, "<div class=\"scale\"><span>2</span>"), 2);    // errors on one scale: the larger of 0.5 and 2
  EXPECT_EQ(count(html, "<div class=\"scale\"><span>2.5</span>"), 2);  // fields each on their own
  content.samples[1].sample.id = 7;
  EXPECT_EQ(count(render_comparison(content), "<div class=\"scale\"><span>4</span>"), 4);  // the same sample: on one
}

TEST(RunList, RunsOnOneFileHaveOneSet) {
  Scratch scratch;
  write_run(scratch / "a", 0.1, 0.2);
  for (int seed = 0; seed < 2; ++seed) {
    write(scratch / fmt::format("b{}/config.toml", seed), config(seed));
    write(scratch / fmt::format("b{}/metrics.csv", seed), kHeader);
  }
  const RunCollection found = collect_runs({scratch / ""});
  EXPECT_EQ(found.runs[1].set, "darcy");  // as its file, darcy-0.h5, is called by the finished run
  EXPECT_EQ(found.runs[2].set, "darcy-1");
}

TEST(Comparison, OfDifferentSetsNamesNoBest) {
  Scratch scratch;
  write_run(scratch / "a", 0.1, 0.2);
  write(scratch / "b/config.toml", config(1));
  write(scratch / "b/metrics.csv", std::string(kHeader) + "1,10,1e-3,0.5,0.4,2.5\n");
  ComparisonContent content;
  content.found = collect_runs({scratch / ""});
  const std::string html = render_comparison(content);
  EXPECT_NE(html.find("different datasets"), std::string::npos);
  EXPECT_EQ(html.find("lowest relative L2"), std::string::npos);
  EXPECT_NE(html.find("<circle"), std::string::npos);  // a run of one epoch is a point
}

TEST(RunList, KeysThatAnOperatorDoesNotReadAreNoDifference) {
  const Scratch scratch;
  const auto write_model = [&](const char* name, const char* model, int agents, int slices, int epochs) {
    write(scratch / name / "config.toml",
          fmt::format("[model]\nname = \"{}\"\nagents = {}\nslices = {}\n[train]\nepochs = {}\n", model, agents, slices,
                      epochs));
    write(scratch / name / "metrics.csv", kHeader);
  };
  write_model("a", "lano", 64, 32, 4);
  write_model("b", "transolver", 128, 64, 4);  // the agents say nothing to it, nor the slices to the other
  const auto keys = [&](bool epochs = false) { return differing_keys(collect_runs({scratch / "."}).runs, epochs); };
  EXPECT_EQ(keys(), (std::vector<std::string>{"model.name"}));
  write_model("c", "transolver", 128, 16, 9);
  EXPECT_EQ(keys(), (std::vector<std::string>{"model.name", "model.slices"}));
  EXPECT_EQ(keys(true), (std::vector<std::string>{"model.name", "model.slices", "train.epochs"}));
  const RunCollection found = collect_runs({scratch / "."});
  const RunTable table = make_run_table(found, RunOrder::name, {"model.slices"});
  EXPECT_EQ(table.rows[0].cells.back(), "-");
  EXPECT_EQ(table.rows[1].cells.back(), "64");
  ComparisonContent content;
  content.found = found;
  EXPECT_NE(render_comparison(content).find("<td>train.epochs</td>"), std::string::npos);
}

TEST(RunSummary, TheSetIsNamedByItselfBeforeTheEnd) {
  const Scratch scratch;
  write(scratch / "a/config.toml", config());
  write(scratch / "a/metrics.csv", kHeader);
  EXPECT_EQ(read_run_summary(scratch / "a").set, "darcy-0");  // of an older version: by its file
  write(scratch / "a/events.jsonl", "{\"event\":\"start\",\"parameters\":5,\"set\":\"flow\"}\n");
  EXPECT_EQ(read_run_summary(scratch / "a").set, "flow");
}

TEST(RunReport, OfAStoppedAndOfARunningRun) {
  const Scratch scratch;
  write(scratch / "a/config.toml", config());
  write(scratch / "a/events.jsonl", "{\"event\":\"start\",\"parameters\":1104257,\"set\":\"flow\"}\n");
  write(scratch / "a/lock", "");
  // Before the first epoch too.
  EXPECT_NE(render_report(report_of_run(scratch / "a")).find("no curve yet"), std::string::npos);
  write(scratch / "a/metrics.csv", std::string(kHeader) + "1,10,1e-3,0.5,0.4,20\n2,20,1e-3,0.3,0.25,20\n");
  const std::string stopped = render_report(report_of_run(scratch / "a"));
  for (const std::string& part : {std::string("LANO on flow"), std::string("stopped after epoch 2 of 4"),
                                  "lano train --resume " + (scratch / "a").string(), std::string("2.500e-01"),
                                  std::string("1,104,257"), std::string("<polyline")})
    EXPECT_NE(stopped.find(part), std::string::npos) << part;
  EXPECT_EQ(stopped.find("Test errors"), std::string::npos);
  const int lock = ::open((scratch / "a/lock").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  const std::string running = render_report(report_of_run(scratch / "a"));
  write(scratch / "a/evaluation.json", evaluation(0.1, 0.2));
  EXPECT_NE(render_report(report_of_run(scratch / "a")).find("training again"), std::string::npos);
  ::close(lock);
  EXPECT_EQ(render_report(report_of_run(scratch / "a")).find("training again"), std::string::npos);
  EXPECT_NE(running.find("It is training"), std::string::npos);
  EXPECT_EQ(running.find("--resume"), std::string::npos);
}

}  // namespace
}  // namespace lano::runs_test
