// The small texts users read, and the description of grids.
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "core/duration.h"
#include "core/error.h"
#include "core/nearest.h"
#include "core/set_description.h"
#include "core/threads.h"

namespace lano::text_test {
namespace {

TEST(Text, ErrorsHaveOneForm) {
  EXPECT_EQ(error_message("reading 'a'", "a file", "a folder", "look again"),
            "reading 'a': expected a file, found a folder; look again");
  EXPECT_EQ(error_message("reading 'a'", "a file", "a folder", ""), "reading 'a': expected a file, found a folder");
}

TEST(Text, ErrorsWithoutAFoundValueArePlain) {
  EXPECT_EQ(plain_error_message("reading 'a'", "it has no arrays", "name another file"),
            "reading 'a': it has no arrays; name another file");
  EXPECT_EQ(plain_error_message("reading\x1b", "it has no \xff", ""), "reading?: it has no ?");
  // Failures of the work are no usage errors: the command line exits with 1 for these, with 2 for those.
  try {
    fail_plainly("reading", "it has no arrays", "name another file");
  } catch (const UsageError&) {
    ADD_FAILURE() << "a failure of the work is called a mistake of the caller";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "reading: it has no arrays; name another file");
  }
  try {
    fail_usage_plainly("reading", "it has no arrays");
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "reading: it has no arrays");
  }
}

// Untrusted text in a message: no commands to the terminal, no bytes that are not text, no unlimited length.
TEST(Text, UntrustedTextIsMadePlain) {
  EXPECT_EQ(plain_text("caf\u00e9 \u4e2d \U0001f600", 100), "caf\u00e9 \u4e2d \U0001f600");
  EXPECT_EQ(plain_text("a\x1b[2J\x07 b\n\tc\x7f", 100), "a?[2J? b  c?");
  EXPECT_EQ(plain_text("\xc2\x9b"
                       "31m",
                       100),
            "?31m");  // the C1 form of ESC [
  EXPECT_EQ(plain_text("\xff \xc0\x80 \xed\xa0\x80 \xe2\x82", 100),
            "? ?? ??? ??");                                // not UTF-8: stray, overlong, surrogate, cut
  EXPECT_EQ(plain_text("\xf4\x90\x80\x80", 100), "????");  // above U+10FFFF
  EXPECT_EQ(plain_text("0123456789", 4), "0123...");
  EXPECT_EQ(plain_text("012\u00e9", 4), "012...");  // no half characters
  const std::string message =
      error_message("reading", std::string(5000, 'e'), std::string(5000, 'f'), std::string(5000, 'a'));
  EXPECT_LT(message.size(), 2000u);
}

TEST(Text, EditDistance) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(nearest("modle.width", {"train.batch", "model.width", "model.heads"}), "model.width");
  EXPECT_EQ(did_you_mean("modle.width", {"train.batch", "model.width"}), "did you mean 'model.width'?");
  EXPECT_EQ(did_you_mean("width", {"train.batch", "model.width"}), "did you mean 'model.width'?");
  EXPECT_EQ(did_you_mean("foo", {"t", "x", "sol"}), "");
  EXPECT_EQ(did_you_mean("foo", {}), "");
}

TEST(Text, Durations) {
  EXPECT_EQ(duration_text(3.14), "3.1 s");
  EXPECT_EQ(duration_text(85), "85 s");
  EXPECT_EQ(duration_text(725), "12 min 5 s");
  EXPECT_EQ(duration_text(3 * 3600 + 125), "3 h 2 min");
}

TEST(Grid, UniformSpacingIsRecognised) {
  const Shape shape{3, 2};
  const std::vector<float> uniform{0, 0, 0, 1, .5f, 0, .5f, 1, 1, 0, 1, 1};
  std::vector<double> spacing;
  EXPECT_TRUE(uniform_grid_spacing(shape, uniform, &spacing));
  EXPECT_EQ(spacing, (std::vector<double>{0.5, 1}));
  auto stretched = uniform;
  stretched[4] = stretched[6] = 0.4f;
  EXPECT_FALSE(uniform_grid_spacing(shape, stretched, nullptr));
  auto sheared = uniform;
  sheared[6] = 0.6f;  // x depends on y
  EXPECT_FALSE(uniform_grid_spacing(shape, sheared, nullptr));
  auto falling = uniform;
  for (std::size_t i = 0; i < falling.size(); i += 2) falling[i] = 1 - falling[i];
  EXPECT_FALSE(uniform_grid_spacing(shape, falling, nullptr));
  for (const float wrong : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    for (std::size_t i = 0; i < uniform.size(); ++i) {
      auto damaged = uniform;
      damaged[i] = wrong;
      EXPECT_FALSE(uniform_grid_spacing(shape, damaged, nullptr)) << i;
    }
  }
}

TEST(Threads, CountCanBeSet) {
  const int before = thread_count();
  set_thread_count(3);
  EXPECT_EQ(thread_count(), 3);
  std::thread([] {
    EXPECT_EQ(thread_count(), 3);
  }).join();  // OpenMP's own count would be that of the first thread alone
  set_thread_count(0);
  EXPECT_EQ(thread_count(), before);
}

TEST(PlainText, NothingThatTurnsTheDirectionOfText) {
  EXPECT_EQ(plain_text("a\u202eb\u2066c\u200fd\u2028e", 100), "a?b?c?d?e");
  EXPECT_EQ(plain_text("\u00e9\u20ac\u4e2d", 100), "\u00e9\u20ac\u4e2d");  // other letters stay
  EXPECT_TRUE(is_utf8("\u20ac"));
  EXPECT_FALSE(is_utf8("a\xff"));
}

}  // namespace
}  // namespace lano::text_test
