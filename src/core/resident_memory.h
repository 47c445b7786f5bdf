// The most memory this process has held at once. Linux only.
#pragma once

#include <cstdint>

namespace lano {

std::int64_t resident_high_water();  // bytes, since the program was started

// Bytes of memory this machine has, whoever uses them.
std::int64_t machine_memory();

}  // namespace lano
