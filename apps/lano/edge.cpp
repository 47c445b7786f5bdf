#include "edge.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <thread>

#include "core/error.h"
#include "core/ranks.h"

namespace lano::cli {

void prepare_process() {
  std::signal(SIGXFSZ, SIG_IGN);
  // Where a standard stream is closed, the next file to be opened would take its number, and its words.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0) ::open("/dev/null", stream == STDOUT_FILENO ? O_RDONLY : O_RDWR);
  }
}

void refuse_to_overwrite(const std::string& path, bool force) {
  if (!force && std::filesystem::exists(path)) {
    fail_plainly(fmt::format("writing '{}'", path), "the file exists already", "choose another --out, or add --force");
  }
}

namespace {

// stderr may be as unwritable as anything.
void print_sentence(const std::string& sentence) { std::fputs(("lano: " + sentence + "\n").c_str(), stderr); }

// Of several ranks the first one reports for all: its own failure, else that of the first that failed.
void complain(const std::string& sentence) {
  if (ranks().alone()) return print_sentence(sentence);
  if (!mesh_ranks().alone()) {
    // The others may be anywhere in the exchanges of a pass: either all meet here, or the first of those that do speaks
    // and ends all. The rest of them give it the time.
    const Ranks::Came came = ranks().all_come_within(2);
    if (came == Ranks::Came::all && !ranks().first()) return;
    if (came == Ranks::Came::some) std::this_thread::sleep_for(std::chrono::seconds(5));
    print_sentence(ranks().first() ? sentence : fmt::format("rank {}: {}", ranks().rank(), sentence));
    if (came != Ranks::Came::all) ranks().end_all();
    return;
  }
  const std::vector<std::string> all = ranks().tell_failure(sentence);
  if (!ranks().first()) return;
  for (std::size_t r = 0; r < all.size(); ++r) {
    if (!all[r].empty()) return print_sentence(r == 0 ? all[r] : fmt::format("rank {}: {}", r, all[r]));
  }
  print_sentence(sentence);
}

// What CLI11 found wrong, as one sentence. Its numbers of at least 0 have an upper end, too: that of double, written
// with 309 digits.
std::string usage_sentence(const CLI::Error& error) {
  std::string message = error.what();
  if (const auto at = message.find(" not in range 0.000000 to 17976931348623157"); at != std::string::npos) {
    message = message.substr(0, at) + " is too small";
    if (const auto value = message.find("Value "); value != std::string::npos) message.erase(value, 6);
  }
  if (const auto end = message.find('\n'); end != std::string::npos) message.resize(end);
  return message + "; see --help";
}

int run_and_catch(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return 0;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) {
      complain(usage_sentence(error));
      return 2;
    }
    if (ranks().first()) app.exit(error);  // prints help or version
    return 0;
  } catch (const RankFailure& error) {
    if (ranks().first()) print_sentence(error.what());
    return 1;
  } catch (const UsageError& error) {
    complain(error.what());
    return 2;
  } catch (const std::filesystem::filesystem_error& error) {
    complain(error_message(fmt::format("looking at '{}'", error.path1().string()),
                           "a path that can be followed, with permission to read", error.code().message(),
                           "check its folders and their permissions"));
    return 1;
  } catch (const std::bad_alloc&) {
    complain("there is not enough memory; use a smaller dataset, model or batch");
    return 1;
  } catch (const std::exception& error) {
    // One sentence, also where a library adds its call stack.
    const std::string message = error.what();
    complain(message.substr(0, message.find('\n')));
    return 1;
  }
}

}  // namespace

int start_ranks(const std::function<void()>& join, int rank, int local) {
  try {
    join();
    return 0;
  } catch (const std::exception& error) {
    // Without the others nobody knows who else fails. The first speaks at once, and its end is the end of the job; what
    // one machine alone lacks is heard from there.
    const bool joined = !ranks().alone();
    if (joined || rank == 0) {
      complain(error.what());
    } else if (local == 0) {
      std::this_thread::sleep_for(std::chrono::seconds(2));
      print_sentence(fmt::format("rank {}: {}", rank, error.what()));
    }
    set_ranks(nullptr);
    return 2;
  }
}

int run_at_edge(CLI::App& app, int argc, char** argv) {
  const int code = run_and_catch(app, argc, argv);
  set_ranks(nullptr);
  // Output that was lost is a failure, though the work may be done.
  const bool lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!lost || code != 0) return code;
  complain("writing to stdout: the output was lost; what the command wrote to files is complete");
  return 1;
}

}  // namespace lano::cli
