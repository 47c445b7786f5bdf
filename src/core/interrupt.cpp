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

}  // namespace

InterruptGuard::InterruptGuard() {
  wished = 0;
  struct sigaction action {};
  action.sa_handler = wish;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, &before_int);
  ::sigaction(SIGTERM, &action, &before_term);
}

InterruptGuard::~InterruptGuard() {
  ::sigaction(SIGINT, &before_int, nullptr);
  ::sigaction(SIGTERM, &before_term, nullptr);
}

bool interrupted() { return wished != 0; }

}  // namespace lano
