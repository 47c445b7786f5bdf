#include "core/atomic_file.h"

#include <sys/resource.h>

#include <csignal>

#include "scratch.h"

namespace lano::atomic_file_test {
namespace {

TEST(AtomicFile, WritesAndReplaces) {
  test::Scratch scratch;
  write_file_atomically(scratch / "a.txt", std::string_view("one"));
  write_file_atomically(scratch / "a.txt", std::string_view("two"));
  EXPECT_EQ(read_file(scratch / "a.txt", "reading"), "two");
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(AtomicFile, AFullDiskKeepsTheOldFileAndLeavesNoPart) {
  test::Scratch scratch;
  write_file_atomically(scratch / "a.txt", std::string_view("old"));
  // The limit on file size makes write() fail like a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  auto* const handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = test::error_of([&] { write_file_atomically(scratch / "a.txt", std::string(5000, 'x')); });
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_NE(message.find("a.txt"), std::string::npos) << message;
  EXPECT_EQ(read_file(scratch / "a.txt", "reading"), "old");
  EXPECT_EQ(scratch.files(), 1u);
}

TEST(AtomicFile, UnpublishedFilesVanish) {
  test::Scratch scratch;
  {
    PendingFile pending(scratch / "b.bin");
    write_file_atomically(pending.temporary(), std::string_view("half"));
  }
  EXPECT_EQ(scratch.files(), 0u);
}

TEST(AtomicFile, NamesWhatIsMissing) {
  test::Scratch scratch;
  EXPECT_ERROR_WITH(read_file(scratch / "none", "reading"), "nothing at that path");
  EXPECT_ERROR_WITH(PendingFile(scratch / "no/such/file"), "does not exist; create it first");
}

// A file of /proc says it has no bytes, and has some.
TEST(AtomicFile, ReadsWhatAFileHasAndNotWhatItSays) {
  EXPECT_NE(read_file("/proc/self/status", "reading").find("VmRSS"), std::string::npos);
  test::Scratch scratch;
  const std::string bytes(100'000, 'x');
  write_file_atomically(scratch / "a", bytes);
  EXPECT_EQ(read_file(scratch / "a", "reading"), bytes);
  write_file_atomically(scratch / "empty", "");
  EXPECT_EQ(read_file(scratch / "empty", "reading"), "");
}

TEST(AtomicFile, LeftoversOfKilledWritersAreRemoved) {
  const test::Scratch scratch;
  // page.html.<machine>-<process>.part
  const std::string own = PendingFile(scratch / "page.html").temporary().filename().string();
  const std::string machine = own.substr(0, own.find('-') + 1);
  ASSERT_EQ(own, machine + std::to_string(::getpid()) + ".part");
  std::string elsewhere = machine;
  elsewhere[std::string("page.html.").size()] ^= 1;  // another hexadecimal digit
  // No process has this number: Linux ends at 4,194,304.
  const std::string dead = machine + "99999999.part";
  for (const std::string& name : {dead, own, machine + "x.part", elsewhere + "99999999.part", "other" + dead.substr(4)})
    write_file_atomically(scratch / name, "half");
  remove_leftovers(scratch / "page.html");
  EXPECT_FALSE(std::filesystem::exists(scratch / dead));
  EXPECT_EQ(scratch.files(), 4u);  // of a living process, of no process, of another machine, of another file
}

}  // namespace
}  // namespace lano::atomic_file_test
