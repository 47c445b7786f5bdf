// Other programs, and the only way to start them: no shell, arguments are passed as they are. What a child does to
// itself, a crash or running out of memory, does not affect this process. It is told when the user wants to stop
// (core/interrupt.h), and stopped if this process dies first.
#pragma once

#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lano {

struct ChildEnd {
  int code = 0;    // it exited with
  int signal = 0;  // that ended it; 0: none
  bool good() const { return code == 0 && signal == 0; }
};

struct ChildOptions {
  std::string* output = nullptr;  // takes what the child writes to stdout, which else is shared
  bool quiet = false;             // its stdout goes nowhere
  std::vector<std::pair<std::string, std::string>> environment{};  // variables set in addition to this process's own
};

// Starts a program and waits for its end. Fails where it cannot be started.
ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                   const ChildOptions& options = {});

// A child that answers: lines to its stdin, lines from its stdout. Its input ends with the object, and it should end
// then too.
class TalkingChild {
 public:
  // A name without a folder is looked for along PATH.
  TalkingChild(const std::string& program, const std::vector<std::string>& arguments);
  ~TalkingChild();
  TalkingChild(const TalkingChild&) = delete;
  TalkingChild& operator=(const TalkingChild&) = delete;

  void tell(const std::string& line);
  std::optional<std::string> line();  // the next one; none after the last

 private:
  int child_ = -1;
  std::FILE *to_ = nullptr, *from_ = nullptr;
};

// Replaces this process by a program; argv as main has it. Returns only where that program cannot be started.
void become(const std::filesystem::path& program, char** argv);
void become(const std::filesystem::path& program, const std::vector<std::string>& arguments);

// The folder of the running program.
std::filesystem::path program_folder();

}  // namespace lano
