#!/usr/bin/env bash
# weir/dsm.hpp, used by a small program (cxx.cc): alone, on three nodes under each MPI that is here, and under both lazy protocols.
# usage: cxx.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_cxx
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failed=0
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# run NODES COMMAND...: it says that all is well.
run() {
  local nodes=$1
  shift
  timeout -k 5 60 "$@" > out 2>&1
  local status=$?
  [ "$status" = 0 ] && grep -q "^cxx: $nodes nodes: well$" out && return
  echo "BAD: $*: status $status"
  sed 's/^/  | /' out | head -40
  failed=1
}

run 1 "$program"
for mpirun in mpirun.openmpi mpirun.mpich; do
  command -v "$mpirun" >/dev/null || continue
  run 3 "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_TAPES=auto "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_THREADS=2 "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_PROTOCOL=hlrc "$mpirun" -n 3 "$program"
done
exit "$failed"
