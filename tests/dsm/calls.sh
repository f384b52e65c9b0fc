#!/usr/bin/env bash
# System calls on shared memory (calls.cc), those that consume what they return (receiving.cc), and what ordinary programs call
# (ordinary.cc), under each MPI that is here, each protocol and with tapes.
# usage: calls.sh BUILD calls|receiving|ordinary [ARGUMENT]...
set -uo pipefail

name=$2
program=("$(realpath "$1")/bin/dsm_$name" "${@:3}")
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

run() {
  timeout -k 5 100 "$@" > out 2>&1
  local status=$?
  [ "$status" = 0 ] && grep -q "^$name: well\$" out && return
  bad "$*: status $status"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  for protocol in lrc hlrc sc; do
    WEIR_DSM_PROTOCOL=$protocol run "$mpirun" -n 2 "${program[@]}"
  done
  WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K run "$mpirun" -n 3 "${program[@]}"
done
exit "$failed"
