#!/usr/bin/env bash
# weir/dsm.hpp, used by a small program (cxx.cc): alone, on three nodes under each MPI that is here, and under each protocol.
# usage: cxx.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_cxx
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# run NODES COMMAND...: it says that all is well.
run() {
  local nodes=$1
  shift
  timeout -k 5 60 "$@" > out 2>&1
  local status=$?
  [ "$status" = 0 ] && grep -q "^cxx: $nodes nodes: well$" out && return
  bad "$*: status $status"
}

run 1 "$program"
mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  run 3 "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_TAPES=auto "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_THREADS=2 "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_PROTOCOL=hlrc "$mpirun" -n 3 "$program"
  run 3 env WEIR_DSM_PROTOCOL=sc "$mpirun" -n 3 "$program"
done
exit "$failed"
