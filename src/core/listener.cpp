#include "core/listener.h"

namespace lano {

void Listener::say(const std::string&) {}
void Listener::warn(const std::string&) {}
void Listener::begin(const std::string&, std::int64_t, const std::string&) {}
void Listener::advance(std::int64_t, const std::string&) {}
void Listener::end(bool) {}

Listener& quiet() {
  static Listener nobody;
  return nobody;
}

CountedWork::CountedWork(Listener& listener, const std::string& label, std::int64_t total, const std::string& unit)
    : listener_(listener) {
  listener_.begin(label, total, unit);
}

CountedWork::~CountedWork() {
  if (!finished_) listener_.end(false);
}

void CountedWork::finish() {
  if (finished_) return;
  finished_ = true;
  listener_.end(true);
}

}  // namespace lano
