// What a library reports while it works. Libraries never print: a program passes a Listener that does
// (apps/lano/console.h); other listeners ignore the lines or store them.
#pragma once

#include <cstdint>
#include <string>

namespace lano {

class Listener {
 public:
  virtual ~Listener() = default;
  virtual void say(const std::string& line);   // for the user, in the order of the work
  virtual void warn(const std::string& line);  // what the user should know and may not have wanted

  // Counted work: its total (0: unknown), then steps, from several threads at once, then its end. One at a time.
  virtual void begin(const std::string& label, std::int64_t total, const std::string& unit);
  virtual void advance(std::int64_t count, const std::string& detail);
  virtual void end(bool complete);
};

// Says nothing to anybody.
Listener& quiet();

// Counted work that ends with its scope, complete only where finish() was called.
class CountedWork {
 public:
  CountedWork(Listener& listener, const std::string& label, std::int64_t total, const std::string& unit);
  ~CountedWork();
  CountedWork(const CountedWork&) = delete;
  CountedWork& operator=(const CountedWork&) = delete;

  void advance(std::int64_t count = 1, const std::string& detail = {}) { listener_.advance(count, detail); }
  void finish();

 private:
  Listener& listener_;
  bool finished_ = false;
};

}  // namespace lano
