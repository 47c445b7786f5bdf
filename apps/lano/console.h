// The user's terminal as a Listener: lines on stdout, warnings and progress on stderr.
#pragma once

#include "core/listener.h"

namespace lano::cli {

Listener& console();

}  // namespace lano::cli
