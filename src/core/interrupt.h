// Ctrl-C as a wish: while a guard lives, the first SIGINT or SIGTERM only sets a flag, for the work to end at a good
// place; a second one ends the process at once.
#pragma once

namespace lano {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
};

bool interrupted();  // since the guard was made

}  // namespace lano
