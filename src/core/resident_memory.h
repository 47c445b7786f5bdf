// The most memory this process has held at once, and what the machine and the limits of the shell allow. Linux only.
#pragma once

#include <cstdint>
#include <string_view>

namespace lano {

std::int64_t resident_high_water();  // bytes, since the program was started

// Bytes of memory this machine has, whoever uses them.
std::int64_t machine_memory();

// Fails with a sentence where the limit of the address space (ulimit -v) leaves less than `bytes`: libraries that are
// loaded below it may wait for ever instead of failing.
void check_address_space(std::string_view doing, std::int64_t bytes);

}  // namespace lano
