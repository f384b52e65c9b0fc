#!/usr/bin/env bash
# A node is killed at random moments, and the program started again on other numbers of nodes: it goes on from its last checkpoint, and its result is right.
# usage: checkpoint.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_checkpoint
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"
RANDOM=${SEED:=$$}

# killed MPIRUN NODES: starts it, kills a node of it within a second after all iterate, and waits for the others.
killed() {
  local mpirun=$1 nodes=$2 launcher status victim
  timeout -k 5 20 "$mpirun" -n "$nodes" "$program" "$work/$mpirun" 100000 5000 > out 2>&1 &
  launcher=$!
  for _ in $(seq 100); do
    [ "$(grep -c '^node ' out)" = "$nodes" ] && break
    sleep 0.1
  done
  sleep "0.$((RANDOM % 900 + 100))"
  victim=$(sed -n 's/^node [0-9]*: process \([0-9]*\)$/\1/p' out | sed -n "$((RANDOM % nodes + 1))p")
  if [ -z "$victim" ]; then bad "$mpirun $nodes: it does not iterate"; else kill -KILL "$victim"; fi
  wait "$launcher"
  status=$?
  [ "$status" != 0 ] && [ "$status" != 124 ] || loses_status "$mpirun" "$status" || bad "$mpirun $nodes: status $status"
  for _ in $(seq 30); do
    [ -z "$(left dsm_checkpoint)" ] && break
    sleep 0.1
  done
  [ -z "$(left dsm_checkpoint)" ] || bad "$mpirun $nodes: left: $(left dsm_checkpoint)"
  [ "$mpirun" = mpirun.mpich ] || grep -q '^weir-dsm: node [0-9] ends because node [0-9] .* died$' out || bad "$mpirun $nodes: nobody says why"
  from=$(sed -n 's/^from //p' out)
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  last=0
  for nodes in 3 2 4; do
    killed "$mpirun" "$nodes"
    [ "${from:-0}" -ge "$last" ] || bad "$mpirun $nodes: from $from after $last"
    last=${from:-0}
  done
  timeout -k 5 30 "$mpirun" -n 2 "$program" "$work/$mpirun" 400 0 > out 2>&1 || bad "$mpirun: status $?"
  grep -q '^right$' out || bad "$mpirun: not right"
  from=$(sed -n 's/^from //p' out)
  [ "${from:-0}" -gt 0 ] && [ "${from:-0}" -ge "$last" ] || bad "$mpirun: from ${from:-nothing} after $last"
  [ "$(find "$work/$mpirun" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ] || bad "$mpirun: more is left than one generation"
  echo "checkpoint: $mpirun went on from $last and $from"
  # What is damaged is found out.
  file=$(find "$work/$mpirun" -name node-1)
  printf '\377\376\375' | dd of="$file" bs=1 seek=5000 conv=notrunc 2>/dev/null
  timeout -k 5 30 "$mpirun" -n 2 "$program" "$work/$mpirun" 401 0 > out 2>&1 && ! loses_status "$mpirun" 0 && bad "$mpirun: damage was read"
  grep -q 'the checkpoint is damaged: .*node-1' out || bad "$mpirun: nobody names the damaged file"
done
[ "$failed" = 0 ] && echo "checkpoint: well"
exit "$failed"
