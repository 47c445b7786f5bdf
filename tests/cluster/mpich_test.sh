#!/usr/bin/env bash
# The module for ranks built with MPICH in place of Open MPI, as -DMPI_CXX_COMPILER=mpicxx.mpich chooses it, and run by
# MPICH's mpirun: training and prediction as one process. Usage: mpich_test.sh LANO CONFIGS PYTHON SOURCE CMAKE
set -u
lano=$1 configs=$2 python=$3 source=$4 cmake=$5
if ! command -v mpicxx.mpich >/dev/null || ! command -v mpirun.mpich >/dev/null; then
  echo "skipped: MPICH is not installed (scripts/packages test)"
  exit 77
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
"$cmake" -S "$source" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMPI_CXX_COMPILER=mpicxx.mpich \
  -DLANO_WITH_TORCH=OFF -DLANO_BUILD_TESTS=OFF >"$build/log" 2>&1 &&
  "$cmake" --build "$build" --target lano_mpi >>"$build/log" 2>&1 || { tail -n 20 "$build/log"; exit 1; }
cp "$lano" "$build/bin/lano" || exit 1
"$build/bin/lano" info --system | grep '^MPI .*MPICH' || { "$build/bin/lano" info --system; exit 1; }
LANO_MPIRUN=mpirun.mpich LANO_RANKS=2 bash "$(dirname "$0")/mesh_test.sh" "$build/bin/lano" "$configs" "$python"
