// Damaged and hostile TOML: whatever the text, a config or one sentence, in bounded memory, stack and time.
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/atomic_file.h"
#include "core/config.h"
#include "core/random.h"
#include "core/rehearsal.h"
#include "hostile.h"
#include "scratch.h"

namespace lano::hostile_config_test {
namespace {

struct Bound {
  bool flag = false;
  std::int64_t count = 3;
  double rate = 0.5;
  std::string name = "x";
  std::vector<double> list;
  Schema schema;
  Bound() {
    schema.bind("flag", flag, "a flag");
    schema.bind("train.count", count, "how many");
    schema.bind("train.rate", rate, "how fast");
    schema.bind("name", name, "a name");
    schema.bind("train.list", list, "some numbers");
  }
};

std::string repeated(const std::string& text, std::size_t times) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) out += text;
  return out;
}

struct Hostile {
  std::string name, text;
};

std::vector<Hostile> corpus() {
  std::vector<Hostile> all;
  for (const char* text : {"=",
                           "a",
                           "a =",
                           "= 1",
                           "[",
                           "[]",
                           "[a",
                           "[[a]",
                           "a = [1",
                           "a = {",
                           "a = {b = 1",
                           "a = 'x",
                           "a = \"x",
                           "a = \"\"\"x",
                           "a = '''x",
                           "a = 1 b = 2",
                           "flag = tru",
                           "flag = True",
                           "flag = 1\nflag = 2",
                           "flag = true\nflag = true",
                           "[train]\n[train]",
                           "[train]\ncount = 1\n[train.count]",
                           "train = 1\n[train]\ncount = 1",
                           "[[train]]\ncount = 1",
                           "train = {count = 1, count = 2}",
                           "train.count = 1\ntrain = 2",
                           "\"\" = 1",
                           "'' = 1",
                           "a..b = 1",
                           ".a = 1",
                           "a. = 1",
                           "[.]",
                           "[a.]",
                           "[train]\ncount = 99999999999999999999",
                           "[train]\ncount = -99999999999999999999",
                           "[train]\ncount = 0xffffffffffffffffff",
                           "[train]\ncount = 1e400",
                           "[train]\ncount = 1__0",
                           "[train]\ncount = 01",
                           "[train]\nrate = 1.",
                           "[train]\nrate = .5",
                           "[train]\nrate = 1e",
                           "[train]\nrate = inff",
                           "[train]\ncount = nan",
                           "[train]\ncount = 1979-05-27",
                           "[train]\ncount = 1979-05-27T07:32:00Z",
                           "[train]\ncount = 25:61:61",
                           "[train]\ncount = 1979-13-41",
                           "[train]\nlist = [1, 'a']",
                           "[train]\nlist = [[1], [2]]",
                           "[train]\nlist = [1979-05-27]",
                           "[train]\nlist = {a = 1}",
                           "name = \"\\q\"",
                           "name = \"\\u12\"",
                           "name = \"\\ud800\"",
                           "name = \"\\U00110000\"",
                           "name = 'a\nb'",
                           "name = \"a\nb\"",
                           "name = \"\x01\"",
                           "name = \"\x7f\"",
                           "\xff\xfe",
                           "name = \"\xff\"",
                           "name = \"\xc0\x80\"",
                           "name = \"\xed\xa0\x80\"",
                           "\xef\xbb = 1",
                           "na\xc3\xafve = 1",
                           "a\rb = 1",
                           "unknown = 1",
                           "\"unknown\\u001b[2J\" = 1",
                           "[train]\n\"co\\nunt\" = 1"}) {
    all.push_back({text, text});
  }
  all.push_back({"a zero byte", std::string("name = \"a\0b\"", 12)});
  // Depth: in lists, in inline tables, in both, in dotted keys, in headers, quoted, with blanks, and each part of it on
  // separate lines.
  const std::size_t deep = 100000;
  all.push_back({"deep lists", "a = " + std::string(deep, '[') + std::string(deep, ']')});
  all.push_back({"deep lists without end", "a = " + std::string(deep, '[')});
  all.push_back({"deep lists on lines of their own", "a = " + repeated("[\n", deep) + repeated("]\n", deep)});
  all.push_back({"deep tables", "a = " + repeated("{a=", deep) + "1" + std::string(deep, '}')});
  all.push_back({"deep tables in lists", "a = " + repeated("[{a=", deep) + "1" + repeated("}]", deep)});
  all.push_back({"deep keys", "a" + repeated(".a", deep) + " = 1"});
  all.push_back({"deep keys, quoted", "\"a.b\"" + repeated(" . \"=\"", deep) + " = 1"});
  all.push_back({"deep keys in quotes of the other kind", "'a'" + repeated(".'#'", deep) + " = 1"});
  all.push_back({"deep header", "[a" + repeated(".a", deep) + "]\nb = 1"});
  all.push_back({"deep list header", "[[a" + repeated(".a", deep) + "]]\nb = 1"});
  all.push_back({"deep keys in an inline table", "x = {a" + repeated(".a", deep) + " = 1}"});
  all.push_back({"deep keys behind a string", "x = \"\"\"\\\"\"\"\\\"\"\"\"\na" + repeated(".a", deep) + " = 1"});
  all.push_back({"thirty parts in sixteen lists",
                 repeated("x" + repeated(".a", 30) + " = [{", 40) + "y = 1" + repeated("}]", 40)});
  // Size.
  all.push_back({"ten megabytes in a line", "name = \"" + std::string(10 << 20, 'x') + "\""});
  all.push_back({"ten megabytes of comments", repeated("# nothing\n", 1 << 20)});
  all.push_back({"a key of half a megabyte", std::string(1 << 19, 'k') + " = 1"});
  all.push_back(
      {"a key of half a megabyte and the wrong type", "[train]\nlist = [\"" + std::string(1 << 19, 'k') + "\"]"});
  all.push_back({"fifty thousand tables", [] {
                   std::string text;
                   for (int i = 0; i < 50000; ++i) text += fmt::format("[t{}]\n", i);
                   return text + "[t1]\n";
                 }()});
  all.push_back({"fifty thousand keys of one table", [] {
                   std::string text;
                   for (int i = 0; i < 50000; ++i) text += fmt::format("k{} = {}\n", i, i);
                   return text;
                 }()});
  all.push_back({"a list of a hundred thousand", "[train]\ncount = [" + repeated("1,", 100000) + "]"});
  return all;
}

TEST(HostileConfig, EveryDamagedTextIsRefusedWithASentence) {
  const std::vector<Hostile> all = corpus();
  EXPECT_GE(all.size(), 60u);
  for (const Hostile& each : all) {
    test::expect_refused(each.name.substr(0, 200), [&] {
      Bound bound;
      bound.schema.load_text(each.text, "reading config 'x.toml'");
    });
    test::expect_survived(each.name.substr(0, 200), [&] { flat_toml(each.text, "reading 'x.toml'"); });
  }
}

// What is just within the limits is read.
TEST(HostileConfig, LimitsLeaveRoomForConfigs) {
  Bound bound;
  bound.schema.load_text(
      "name = \"....................................................................\"  # "
      "..............................................\n[train]\nlist = [" +
          repeated("0.5, ", 10000) + "1.5]\nrate = 1.5\n",
      "reading");
  EXPECT_EQ(bound.list.size(), 10001u);
  EXPECT_EQ(bound.name.size(), 68u);
  EXPECT_EQ(flat_toml("a" + repeated(".a", 31) + " = 1", "reading").size(), 1u);
  EXPECT_ERROR_WITH(flat_toml("a" + repeated(".a", 32) + " = 1", "reading"), "keys of at most 32 parts, found 33");
}

// Texts with control characters are written so that they can be read again.
TEST(HostileConfig, WritesWhatItReads) {
  Bound bound, again;
  using namespace std::string_literals;
  bound.name = "a\tb\r\x01\x1f\x7f \"\\ \0\n"s;
  again.schema.load_text(bound.schema.to_toml(), "reading");
  EXPECT_EQ(again.name, bound.name);
}

TEST(HostileConfig, RandomDamageNeverCrashes) {
  const std::string good = "flag = true\nname = \"a b\"  # text\n[train]\ncount = 7\nrate = 1e-3\nlist = [1, 2.5, 3]\n";
  std::size_t taken = 0;
  for (std::uint64_t trial = 0; trial < 300; ++trial) {
    RandomStream stream(8, Purpose::test, trial);
    std::string text = good;
    for (std::uint64_t k = 0; k <= stream.below(4); ++k)
      text[stream.below(text.size())] = "[]{}=.,\"'#\n\\ a1\xff"[stream.below(16)];
    taken += test::expect_survived(text,
                                   [&] {
                                     Bound bound;
                                     bound.schema.load_text(text, "reading");
                                   })
                 ? 1
                 : 0;
  }
  EXPECT_LT(taken, 150u);
}

TEST(HostileFiles, TooLargeOrNoFilesAtAll) {
  test::Scratch scratch;
  test::write_bytes(scratch / "a", std::string(1000, 'x'));
  EXPECT_EQ(read_file(scratch / "a", "reading").size(), 1000u);
  EXPECT_EQ(read_file(scratch / "a", "reading", 1000).size(), 1000u);
  EXPECT_ERROR_WITH(read_file(scratch / "a", "reading", 999), "expected at most 999 bytes, found 1000");
  EXPECT_ERROR_WITH(read_file("/dev/zero", "reading", 1 << 20), "a pipe or a device");
  EXPECT_ERROR_WITH(file_bytes("/dev/zero", "reading"), "a pipe or a device");
  EXPECT_ERROR_WITH(file_bytes(scratch / "b", "reading"), "nothing at that path");
  test::expect_refused("an endless config", [] {
    Bound bound;
    bound.schema.load("/dev/zero");
  });
}

TEST(Rehearsal, SaysHowAChildEnded) {
  EXPECT_EQ(rehearse([] {}, 10), "");
  EXPECT_EQ(rehearse([] { throw Error("not heard"); }, 10), "");
  EXPECT_EQ(rehearse([] { std::raise(SIGKILL); }, 10), "out of time or memory");
  EXPECT_EQ(rehearse([] { std::raise(SIGABRT); }, 10), "aborted");
  EXPECT_EQ(rehearse([] { ::_exit(3); }, 10), "an error of memory");
  EXPECT_EQ(rehearse(
                [] {
                  for (volatile bool on = true; on;) {
                  }
                },
                1),
            "out of time or memory");
}

}  // namespace
}  // namespace lano::hostile_config_test
