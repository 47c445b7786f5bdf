// evaluation.json: what is written is read again, old files are read, damaged ones get a sentence.
#include "run/run_record.h"

#include "core/atomic_file.h"
#include "scratch.h"

namespace lano::run_record_test {
namespace {

RunRecord some_record() {
  RunRecord record;
  record.model = "transolver";
  record.set = "darcy";
  record.parameters = 1104257;
  record.epochs = 12;
  record.best_epoch = 9;
  record.selection = "best on validation";
  record.selection_text = "the weights after epoch 9";
  record.averaged = record.early_stop = true;
  record.seed = 3;
  record.train_samples = 900;
  record.validation_samples = 100;
  record.training_seconds = 61.5;
  Evaluation test;
  test.ids = {7, 3};
  test.relative_l2 = {{0.25, 0.125}, summarise(std::vector<double>{0.25, 0.125})};
  test.max_error = {{2, 1}, summarise(std::vector<double>{2, 1})};
  test.step_l2 = {0.1, 0.2};
  test.first_frame = 1;
  test.seconds = 0.5;
  record.test = test;
  return record;
}

TEST(RunRecord, WhatIsWrittenIsRead) {
  const test::Scratch scratch;
  const RunRecord record = some_record();
  EXPECT_FALSE(is_finished(scratch / ""));
  write_run_record(scratch / "", record);
  EXPECT_TRUE(is_finished(scratch / ""));
  const RunRecord again = read_run_record(scratch / "");
  EXPECT_EQ(again.model, record.model);
  EXPECT_EQ(again.set, record.set);
  EXPECT_EQ(again.parameters, record.parameters);
  EXPECT_EQ(again.epochs, record.epochs);
  EXPECT_EQ(again.best_epoch, record.best_epoch);
  EXPECT_EQ(again.selection, record.selection);
  EXPECT_EQ(again.selection_text, record.selection_text);
  EXPECT_TRUE(again.averaged);
  EXPECT_TRUE(again.early_stop);
  EXPECT_EQ(again.seed, record.seed);
  EXPECT_EQ(again.train_samples, record.train_samples);
  EXPECT_EQ(again.validation_samples, record.validation_samples);
  EXPECT_TRUE(std::isnan(again.validation_l2));
  EXPECT_EQ(again.training_seconds, record.training_seconds);
  ASSERT_TRUE(again.test);
  EXPECT_EQ(again.test->ids, record.test->ids);
  EXPECT_EQ(again.test->relative_l2.per_sample, record.test->relative_l2.per_sample);
  EXPECT_EQ(again.test->max_error.per_sample, record.test->max_error.per_sample);
  EXPECT_FALSE(again.test->relative_h1.known());
  EXPECT_EQ(again.test->step_l2, record.test->step_l2);
  EXPECT_EQ(again.test->first_frame, 1);
  EXPECT_EQ(again.test_l2(), 0.1875);
  EXPECT_EQ(again.test->relative_l2.summary.maximum, 0.25);
  RunRecord untested = record;
  untested.test.reset();
  write_run_record(scratch / "", untested);
  EXPECT_TRUE(std::isnan(read_run_record(scratch / "").test_l2()));
}

TEST(RunRecord, FilesOfOlderVersionsAreRead) {
  const test::Scratch scratch;
  write_file_atomically(
      scratch / "evaluation.json",
      R"({"parameters":7,"epochs":4,"best_epoch":3,"validation_l2":null,"training_seconds":8,"selection":"last epoch",)"
      R"("test":{"samples":2,"relative_l2":{"mean":0.25,"median":0.2},"max_error":{"mean":3},"seconds":1,)"
      R"("per_sample":[{"id":4,"relative_l2":0.3},{"id":5,"relative_l2":0.2}]}})");
  const RunRecord record = read_run_record(scratch / "");
  EXPECT_EQ(record.model, "lano");
  EXPECT_EQ(record.test_l2(), 0.25);
  EXPECT_EQ(record.test->relative_l2.per_sample, (std::vector<double>{0.3, 0.2}));
  EXPECT_EQ(record.test->max_error.summary.mean, 3);
  EXPECT_FALSE(record.test->max_error.known());
}

TEST(RunRecord, DamagedFilesGetASentence) {
  const test::Scratch scratch;
  const std::string good = R"({"parameters":7,"epochs":4,"best_epoch":3,"validation_l2":1,"training_seconds":8,)"
                           R"("test":{"relative_l2":{"mean":1}}})";
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const std::string& text :
       {std::string("{"), std::string("[]"), std::string("3"), with("\"parameters\":7,", ""), with(":7", ":\"many\""),
        with(":4", ":1e300"), with("\"mean\"", "\"means\""), with("{\"relative_l2\":{\"mean\":1}}", "[]")}) {
    write_file_atomically(scratch / "evaluation.json", text);
    EXPECT_ERROR_WITH(read_run_record(scratch / ""), "the evaluation of a finished run");
  }
  EXPECT_ERROR_WITH(read_run_record(scratch / "none"), "evaluation.json");
}

}  // namespace
}  // namespace lano::run_record_test
