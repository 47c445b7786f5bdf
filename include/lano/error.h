// What is thrown: lano::Error, and UsageError and DivergedError, which are Errors. Component runtime, target
// lano::core.
#pragma once

#include "core/error.h"
