// lano::kVersion, the version of these headers. Component runtime, target lano::core.
#pragma once

#include "core/version.h"
