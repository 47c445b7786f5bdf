#include "core/rehearsal.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstring>

namespace lano {
namespace {

[[noreturn]] void perform(const std::function<void()>& work, unsigned seconds) {
  // Whatever the caller does on these signals is not for the child; no core, no words.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGXCPU, SIGTERM})
    std::signal(signal, SIG_DFL);
  std::signal(SIGINT, SIG_IGN);  // Ctrl-C is for the caller
  const rlimit no_core{0, 0}, processor{seconds, seconds + 1};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::setrlimit(RLIMIT_CPU, &processor);
  ::alarm(2 * seconds);
  const int nowhere = ::open("/dev/null", O_WRONLY);
  if (nowhere >= 0) {
    ::dup2(nowhere, STDOUT_FILENO);
    ::dup2(nowhere, STDERR_FILENO);
  }
  try {
    work();
  } catch (...) {
    // Said again, and heard, when the caller does the work itself.
  }
  ::_exit(0);
}

}  // namespace

std::string rehearse(const std::function<void()>& work, unsigned seconds) {
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) perform(work, seconds);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return {};  // someone else reaps children here: nothing is known
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status) == 0 ? "" : "an error of memory";  // a sanitizer's way to end
  const int signal = WTERMSIG(status);
  if (signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL) return "out of time or memory";
  std::string name = ::strsignal(signal);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name;
}

}  // namespace lano
