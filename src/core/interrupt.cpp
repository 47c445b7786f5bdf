#include "core/interrupt.h"

#include <csignal>

namespace lano {
namespace {

volatile std::sig_atomic_t wished = 0;
struct sigaction before_int, before_term;

void wish(int number) {
  wished = 1;
  std::signal(number, SIG_DFL);
}

void wish_and_tell(int number) {
  wished = 1;
  if ((before_int.sa_flags & SA_SIGINFO) == 0 && before_int.sa_handler != SIG_DFL && before_int.sa_handler != SIG_IGN)
    before_int.sa_handler(number);
}

}  // namespace

InterruptGuard::InterruptGuard(Process process) : process_(process) {
  wished = 0;
  struct sigaction action {};
  action.sa_handler = process == Process::own ? wish : wish_and_tell;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &before_int);
  if (process == Process::own) ::sigaction(SIGTERM, &action, &before_term);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &before_int, nullptr);
  if (process_ == Process::own) ::sigaction(SIGTERM, &before_term, nullptr);
  if (process_ == Process::interpreter) wished = 0;  // which continues: the request was for the work that has ended
}

bool interrupted() { return wished != 0; }

}  // namespace lano
