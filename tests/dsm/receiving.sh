#!/usr/bin/env bash
# Calls that consume what they return, on shared memory (receiving.cc), under each MPI that is here, each protocol and with tapes.
# usage: receiving.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_receiving
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

run() {
  timeout -k 5 100 "$@" > out 2>&1
  local status=$?
  [ "$status" = 0 ] && grep -q "^receiving: well$" out && return
  bad "$*: status $status"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  for protocol in lrc hlrc sc; do
    WEIR_DSM_PROTOCOL=$protocol run "$mpirun" -n 2 "$program" 2
  done
done
WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K run mpirun.openmpi -n 3 "$program" 2
exit "$failed"
