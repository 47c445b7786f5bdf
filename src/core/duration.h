// Durations as text for users.
#pragma once

#include <string>

namespace lano {

// "85 s", "12 min 5 s", "3 h 2 min".
std::string duration_text(double seconds);

}  // namespace lano
