// The peak memory of this process, and what the machine and the limits of the shell allow. Linux only.
#pragma once

#include <cstdint>
#include <string_view>

namespace lano {

std::int64_t resident_high_water();  // bytes, since the program was started

// Bytes of memory of this machine, used or not.
std::int64_t machine_memory();

// Fails if the limit of the address space (ulimit -v) leaves less than `bytes`: libraries that are loaded below it may
// wait for ever instead of failing.
void check_address_space(std::string_view doing, std::int64_t bytes);

// Vectors of a few megabytes come and go at every step of a training. By default the C library returns such memory to
// the system and takes it again, page by page: a third of the time of small models. Keep it instead.
void keep_freed_memory();

// The same for as long as it lives, in a process that continues with other work: then free memory is returned.
class FreedMemoryKept {
 public:
  FreedMemoryKept() { keep_freed_memory(); }
  ~FreedMemoryKept();
  FreedMemoryKept(const FreedMemoryKept&) = delete;
  FreedMemoryKept& operator=(const FreedMemoryKept&) = delete;
};

}  // namespace lano
