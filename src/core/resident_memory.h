// The most memory this process has held at once. Linux only.
#pragma once

#include <cstdint>

namespace lano {

std::int64_t resident_high_water();  // bytes, since the program was started

}  // namespace lano
