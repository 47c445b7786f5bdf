// How many threads a call uses: set_thread_count(). Component runtime, target lano::core.
#pragma once

#include "core/threads.h"
