#!/usr/bin/env bash
# What a program does beside its computation: it works, or is refused by name and all goes on, under each MPI; and what ends the job says what.
# usage: beside.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_beside
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# run NODES WHAT [NAME=VALUE...]
run() {
  local nodes=$1 what=$2 status
  shift 2
  timeout -k 5 60 env "$@" "$mpirun" -n "$nodes" "$program" "$what" > out 2>&1
  status=$?
  [ "$status" = 0 ] && grep -q "^beside: well$" out && return
  bad "$mpirun -n $nodes $what $*: status $status"
}
said() { grep -qE "^weir-dsm: $2" out || bad "$mpirun $1: not said: $2"; }

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  for protocol in lrc hlrc sc; do
    run 2 arguments WEIR_DSM_PROTOCOL=$protocol
    run 2 rubbish WEIR_DSM_PROTOCOL=$protocol
    run 3 timers WEIR_DSM_PROTOCOL=$protocol
    [ "$protocol" = sc ] || run 2 mallocs WEIR_DSM_PROTOCOL=$protocol  # docs/LIMITS.md: it may wait for itself there
  done
  run 1 timers
  run 2 timers WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K
  run 3 arguments WEIR_DSM_TAPES=auto WEIR_DSM_COLLECT=64K
  for how in forks raw-forks; do
    run 2 $how
    said $how 'node 0: a process that was forked \([0-9]+\) writes 0x[0-9a-f]+: it is no node'
    said $how 'node 0: a process that was forked \([0-9]+\) reads 0x[0-9a-f]+: it is no node'
    said $how 'node 0: a call in a process that was forked, which is no node'
  done
  run 2 executes
  for nodes in 1 3; do
    run $nodes mappings
    said mappings 'node 0: mprotect of shared memory fails \(EINVAL\): the library maps it'
    said mappings 'node 0: a mapping \(mmap\) onto shared memory fails \(EINVAL\)'
  done
  timeout -k 5 60 "$mpirun" -n 2 "$program" timers-lock > out 2>&1 && ! loses_status "$mpirun" 0 && bad "$mpirun timers-lock: status 0"
  said timers-lock 'node [01]: the library is used, or shared memory that is not accessible, by a handler of a signal that has interrupted the library'
done
exit "$failed"
