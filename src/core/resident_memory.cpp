#include "core/resident_memory.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <limits>
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
  fail_plainly("measuring memory", "/proc/self/status has no VmHWM", "this needs Linux");
}

std::int64_t machine_memory() {
  return static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
}

void check_address_space(std::string_view doing, std::int64_t bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  std::int64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const auto used = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
             wanted = used + static_cast<std::uint64_t>(bytes);
  if (wanted <= limit.rlim_cur) return;
  fail(doing, fmt::format("an address space of at least {} MB", (wanted >> 20) + 1),
       fmt::format("a limit of {} MB", static_cast<std::uint64_t>(limit.rlim_cur) >> 20), "raise it with 'ulimit -v'");
}

void keep_freed_memory() {
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  ::mallopt(M_TOP_PAD, 1 << 26);
}

FreedMemoryKept::~FreedMemoryKept() {
  // Where the C library's own adaptive thresholds end: it does not adapt any more once they were set.
  ::mallopt(M_MMAP_THRESHOLD, 1 << 25);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 26);
  ::mallopt(M_TOP_PAD, 1 << 17);
  ::malloc_trim(0);
}

}  // namespace lano
