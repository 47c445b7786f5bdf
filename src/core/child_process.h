// Another program as a child: started, waited for, and told of a wish to stop (core/interrupt.h). What a child does to
// itself, a crash or running out of memory, stays its own. It is asked to stop where this process dies first.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace lano {

struct ChildEnd {
  int code = 0;    // it exited with
  int signal = 0;  // it was ended by; 0: by itself
  bool good() const { return code == 0 && signal == 0; }
};

// Fails where the program cannot be started. It shares stdin, stdout and stderr.
ChildEnd run_child(const std::filesystem::path& program, const std::vector<std::string>& arguments);

// The folder of the running program.
std::filesystem::path program_folder();

}  // namespace lano
