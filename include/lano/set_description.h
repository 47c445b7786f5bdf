// What a dataset is, without its numbers: geometry, fields, units, times, periodic axes. Component runtime, target
// lano::core.
#pragma once

#include "core/set_description.h"
