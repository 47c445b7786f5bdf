// Whether this process was started as one of several by mpirun or srun, and their MPI, loaded on demand. Nothing of MPI
// is touched otherwise.
#pragma once

#include <string>

namespace lano {

// What the launcher says of this process, whether or not it could join the others.
struct Launched {
  int rank = 0, local = 0;  // among all; among those of this machine
};
Launched launched();

// Where a launcher started several ranks: loads the module with MPI and makes them known to ranks(). Fails in a
// sentence where it is not there: the ranks would each do the whole work.
void join_ranks();

// What `lano info --system` says: the version of the MPI that the module was built with, or why there is none.
std::string mpi_text();

}  // namespace lano
