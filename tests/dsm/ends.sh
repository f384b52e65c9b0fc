#!/usr/bin/env bash
# Threads that end by pthread_exit, the first one and the last one, and processes that end by quick_exit or _exit, or execute another program: what goes on is right, and what cannot is said, under both
# MPIs, with nobody left.
# usage: ends.sh BUILD
set -uo pipefail

program=$(realpath "$1")/bin/dsm_ends
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

nobody_is_left() {
  for _ in $(seq 30); do
    [ -z "$(left dsm_ends)" ] && return
    sleep 0.1
  done
  bad "$1: left: $(left dsm_ends)"
  left dsm_ends | xargs -r kill -KILL
}

# fails WHAT PATTERN COMMAND...
fails() {
  local what=$1 pattern=$2 status
  shift 2
  timeout -k 5 30 "$@" "$what" > out 2>&1
  status=$?
  { [ "$status" != 0 ] || loses_status "$*" "$status"; } && [ "$status" != 124 ] || bad "$1 $what: status $status"
  grep -qE "^weir-dsm: $pattern" out || bad "$1 $what: not said: $pattern"
  nobody_is_left "$1 $what"
}

for mpirun in $(mpirun_of_each); do
  three=("$mpirun" -n 3 "$program")
  for protocol in lrc hlrc sc; do
    WEIR_DSM_PROTOCOL=$protocol timeout -k 5 60 "${three[@]}" goes-on > out 2>&1 || bad "$mpirun goes-on $protocol: status $?"
    [ "$(grep -c '^node [0-2]: well$' out)" = 3 ] || bad "$mpirun goes-on $protocol"
    nobody_is_left "$mpirun goes-on $protocol"
  done
  fails all "node [0-2]: the program's last thread ended \(pthread_exit\) before weir_dsm_finish" "${three[@]}"
  fails one "node 2: the program's last thread ended \(pthread_exit\) before weir_dsm_finish" "${three[@]}"
  fails own-thread "node 2: the program's last thread ended \(pthread_exit\) before weir_dsm_finish" "${three[@]}"
  fails locked 'node 2: a thread ends while it holds lock 5' "${three[@]}"
  fails quick_exit 'node [0-2]: the program ended \(quick_exit\) before weir_dsm_finish' "${three[@]}"
  fails _exit 'node [0-2]: the program ended \(_exit, status 0\) before weir_dsm_finish' "${three[@]}"
  fails execute 'node 2: the program executes true before weir_dsm_finish: no node would be left; fork before it' "${three[@]}"
  timeout -k 5 60 "${three[@]}" executes-nothing > out 2>&1 && [ "$(grep -c '^node [0-2]: well$' out)" = 3 ] || bad "$mpirun executes-nothing"
  for _ in 1 2 3 4; do
    timeout -k 5 60 "${three[@]}" fetches-late > out 2>&1 && [ "$(grep -c '^node [0-2]: well$' out)" = 3 ] && grep -q '^node 0: has it$' out ||
      bad "$mpirun fetches-late"
  done
  fails worker 'node 2: worker 5 of weir_dsm_run ends by pthread_exit, or is cancelled' env WEIR_DSM_THREADS=2 "${three[@]}"
done
# Without a launcher nobody waits: as in any other process.
for what in all quick_exit _exit execute executes-nothing goes-on; do
  timeout 20 "$program" $what > out 2>&1 || bad "alone $what: status $?"
  ! grep -q '^weir-dsm' out || bad "alone $what"
done
[ "$failed" = 0 ] && echo "ends: well"
exit "$failed"
