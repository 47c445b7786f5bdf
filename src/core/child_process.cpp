#include "core/child_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <thread>

#include "core/error.h"
#include "core/interrupt.h"

namespace lano {

ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
  constexpr int kNotStarted = 127;
  const std::string path = program.string();
  std::vector<char*> words{const_cast<char*>(path.c_str())};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t parent = ::getpid(), child = ::fork();
  if (child < 0) fail(fmt::format("starting '{}'", path), "another process", errno_text(errno));
  if (child == 0) {  // only what is safe beside the threads of the parent
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() == parent) ::execv(path.c_str(), words.data());
    ::_exit(kNotStarted);
  }
  int status = 0;
  for (bool told = false;;) {
    const pid_t ended = ::waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended < 0 && errno != EINTR) fail(fmt::format("waiting for '{}'", path), "its end", errno_text(errno));
    // A Ctrl-C reaches both; a signal to this process alone is handed on, under the other name, so that it is never a
    // second Ctrl-C.
    if (interrupted() && !told) {
      ::kill(child, SIGTERM);
      told = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted)
    fail("starting a program", fmt::format("'{}'", path), "none that runs", "is the installation whole?");
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 0, WIFSIGNALED(status) ? WTERMSIG(status) : 0};
}

std::filesystem::path program_folder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace lano
