# What the tests on ranks share, to be sourced with $lano set: a folder to work in, `on COUNT command...`,
# `refused COUNT PATTERN arguments...`, `wrong MESSAGE` and `finish`.
folder=$(dirname "$lano")
mpirun=${LANO_MPIRUN:-mpirun}
command -v "$mpirun" >/dev/null || { echo "skipped: $mpirun is not installed (scripts/packages test)"; exit 77; }
[ -e "$folder/lano-mpi.so" ] || { echo "skipped: this lano was built without MPI"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
# As root, more ranks than cores, and ranks that wait give their core away.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1
# Under the sanitizers: Open MPI leaves memory behind, which would be the exit code of every rank. Leaks of our own are
# seen by the tests of one process.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
failures=0
wrong() { echo "FAILED: $*"; failures=$((failures + 1)); }
on() { local count=$1; shift; timeout 300 "$mpirun" --oversubscribe -n "$count" "$@"; }
case $("$mpirun" --version 2>&1) in
  *'Open MPI'* | *OpenRTE*) ;;
  *) on() { local count=$1; shift; timeout 300 "$mpirun" -n "$count" "$@"; } ;;  # MPICH counts no slots
esac

# One sentence, no output, an exit code: RANKS PATTERN ARGUMENTS...
refused() {
  local count=$1 pattern=$2; shift 2
  on "$count" "$lano" "$@" --out refused.h5 >out.log 2>err.log && wrong "'$*' was taken"
  [ "$(grep -c '^lano: ' err.log)" = 1 ] || wrong "'$*': $(grep -c '^lano: ' err.log) sentences"
  grep '^lano: ' err.log | grep -q -- "$pattern" || wrong "'$*' said: $(head -n 1 err.log)"
  [ ! -e refused.h5 ] || { wrong "'$*' left something"; rm -rf refused.h5; }
}

finish() { [ "$failures" = 0 ] && echo "all as expected" && exit 0; exit 1; }
