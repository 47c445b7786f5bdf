// UMFPACK, loaded when the first flow is solved: it loads a BLAS, which would slow every start of a program, and
// OpenBLAS hangs at start-up if the address space is small (ulimit -v).
#pragma once

#include <umfpack.h>

namespace lano {

struct UmfpackLibrary {
  decltype(&::umfpack_di_defaults) defaults;
  decltype(&::umfpack_di_symbolic) symbolic;
  decltype(&::umfpack_di_numeric) numeric;
  decltype(&::umfpack_di_solve) solve;
  decltype(&::umfpack_di_free_symbolic) free_symbolic;
  decltype(&::umfpack_di_free_numeric) free_numeric;
};

// The same each time, for every thread. Fails if the library or the address space is missing.
const UmfpackLibrary& umfpack();

}  // namespace lano
