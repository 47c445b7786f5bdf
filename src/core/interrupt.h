// Ctrl-C as a request: while a guard lives, the first SIGINT or SIGTERM only sets a flag, so that the work can end at a
// good place; a second one ends the process at once.
#pragma once

namespace lano {

// Whose process it is: the work's own, or an interpreter's, which has its own handler of SIGINT, is told of every one,
// and continues in any case.
enum class Process { own, interpreter };

class InterruptGuard {
 public:
  explicit InterruptGuard(Process process = Process::own);
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  Process process_;
};

bool interrupted();  // since the guard was made

}  // namespace lano
