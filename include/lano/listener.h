// What long work reports: derive from Listener to hear the lines and the progress of a generation, an import or a
// training. Component runtime, target lano::core.
#pragma once

#include "core/listener.h"
