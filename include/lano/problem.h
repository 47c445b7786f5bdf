// The interface of a benchmark problem, for your own PDE, and the random numbers its samples are drawn from. Component
// solvers, target lano::solvers.
#pragma once

#include "core/random.h"
#include "pde/problem.h"
