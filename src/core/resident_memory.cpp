#include "core/resident_memory.h"

#include <unistd.h>

#include <fstream>
#include <string>

#include "core/error.h"

namespace lano {

// Not getrusage, whose mark also knows the parent's memory from before the program was loaded.
std::int64_t resident_high_water() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmHWM:") {
      std::int64_t kilobytes = 0;
      status >> kilobytes;
      return kilobytes * 1024;
    }
  }
  fail("measuring memory", "VmHWM in /proc/self/status", "none", "this needs Linux");
}

std::int64_t machine_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace lano
