// The benchmark problems of `lano generate`, each a Problem made from its config. Component solvers, target
// lano::solvers.
#pragma once

#include "pde/airfoil_problem.h"
#include "pde/burgers_problem.h"
#include "pde/darcy_problem.h"
#include "pde/elasticity_problem.h"
#include "pde/navier_stokes_problem.h"
#include "pde/pipe_problem.h"
#include "pde/plasticity_problem.h"
#include "pde/strided_problem.h"
