#!/usr/bin/env bash
# A node that dies, stops, leaves, or is cut off: the others say which one and end with 125 within seconds, under both MPIs, and nobody is left.
# usage: failure.sh BUILD
set -uo pipefail

ping=$(realpath "$1")/bin/dsm_ping here=$(realpath "$(dirname "$0")")
# shellcheck source=tests/dsm/launchers.sh
. "$(dirname "$0")/launchers.sh"

# Waits until all have said their process.
all_are_there() {
  for _ in $(seq 300); do
    [ "$(grep -c '^node [0-9]*: process' out)" = 3 ] && return
    sleep 0.1
  done
  bad "$1: they do not start"
}

nobody_is_left() {
  for _ in $(seq 30); do
    [ -z "$(left dsm_ping)" ] && return
    sleep 0.1
  done
  bad "$1: left: $(left dsm_ping)"
  left dsm_ping | xargs -r kill -KILL
}

# run NAME MPIRUN NODES ARGUMENTS...: status in $status, seconds in $took
run() {
  local name=$1 mpirun=$2 nodes=$3 start=$SECONDS
  shift 3
  WEIR_DSM_TIMEOUT=${timeout:-10} timeout -k 5 60 "$mpirun" -n "$nodes" "$ping" --seconds 40 --rounds 100 "$@" > out 2>&1
  status=$? took=$((SECONDS - start))
  [ "$took" -le "$limit" ] || bad "$name: it took $took s of $limit"
  nobody_is_left "$name"
}

# How many lines say so; MPICH's launcher kills those who are left so fast that some are lost.
expect() {
  local name=$1 least=$2 pattern=$3 found
  found=$(grep -cE "$pattern" out)
  [ "$found" -ge "$least" ] || bad "$name: $found lines of at least $least: $pattern"
}

mpiruns=$(mpirun_of_each) || exit
for mpirun in $mpiruns; do
  # 15 s on a machine that starts and ends a job at once; on a busy one, three times what that takes are added.
  start=$SECONDS
  timeout -k 5 60 "$mpirun" -n 4 "$ping" --rounds 100 > out 2>&1 || bad "$mpirun: status $?"
  limit=$((15 + 3 * (SECONDS - start)))
  all=3
  [ "$mpirun" = mpirun.mpich ] && all=1
  for what in kill segv _exit; do
    run "$mpirun $what" "$mpirun" 4 --node 2 --do "$what"
    # MPICH's may take the one that left without a word for the whole.
    [ "$status" != 0 ] || [ "$mpirun $what" = "mpirun.mpich _exit" ] || loses_status "$mpirun" "$status" || bad "$mpirun $what: status 0"
    expect "$mpirun $what" "$all" '^weir-dsm: node [013] ends because node 2 \(.*, process [0-9]+\) died$'
  done
  run "$mpirun first" "$mpirun" 4 --node 0 --do kill
  expect "$mpirun first" "$all" '^weir-dsm: node [123] ends because node 0 \(.*\) died$'
  # The status is that of the first process that the launcher sees end; MPICH's mixes those of all, by "or", and its own.
  for what in exit0 return fail; do
    run "$mpirun $what" "$mpirun" 3 --node 1 --do "$what" $([ $what = return ] && echo --seconds 2)
    [ "$status" = 125 ] || { [ "$mpirun" = mpirun.mpich ] && [ "$status" != 0 ]; } || loses_status "$mpirun" "$status" || bad "$mpirun $what: status $status"
    expect "$mpirun $what" 1 '^weir-dsm: node 1: (this was to be|the program ended \(exit status 0\) before weir_dsm_finish)'
    expect "$mpirun $what" 2 '^weir-dsm: node [02] ends because node 1 failed: '
  done
  run "$mpirun abort" "$mpirun" 3 --node 1 --do abort
  [ "$status" = 7 ] || { [ "$mpirun" = mpirun.mpich ] && [ "$status" != 0 ]; } || loses_status "$mpirun" "$status" || bad "$mpirun abort: status $status"
  expect "$mpirun abort" 2 '^weir-dsm: node [02] ends because node 1 failed: aborted$'
  run "$mpirun term" "$mpirun" 3 --node 1 --do term
  expect "$mpirun term" $((all > 1 ? 2 : 1)) '^weir-dsm: node [02] ends because node 1 \(.*\) was ended by SIGTERM$'
  timeout=4 run "$mpirun stop" "$mpirun" 4 --node 3 --do stop
  [ "$status" != 0 ] || bad "$mpirun stop: status 0"
  expect "$mpirun stop" "$all" '^weir-dsm: node [012] ends because node 3 \(.*\) is stopped, and has not answered for [0-9]+ s$'
  # A node that is silent, since its thread does not get to run, and is not stopped: a busy machine. The job goes on.
  timeout=2 run "$mpirun starve" "$mpirun" 3 --node 2 --do starve --seconds 10 --rounds 2
  [ "$status" = 0 ] || bad "$mpirun starve: status $status"
  expect "$mpirun starve" 2 '^weir-dsm: node [01]: node 2 \(.*\) has not answered for [0-9]+ s[.] It is not stopped'
  expect "$mpirun starve" 1 '^ping: 3 nodes, .*: well$'

  # The launcher dies.
  "$mpirun" -n 3 "$ping" --seconds 40 > out 2>&1 &
  launcher=$!
  all_are_there "$mpirun launcher"
  kill -KILL "$launcher"
  wait "$launcher" 2>/dev/null
  nobody_is_left "$mpirun launcher"

  # All stand still for longer than the time that silence is given, and go on.
  WEIR_DSM_TIMEOUT=2 timeout -k 5 60 "$mpirun" -n 3 "$ping" --seconds 6 > out 2>&1 &
  launcher=$!
  all_are_there "$mpirun standstill"
  processes=$(left dsm_ping)
  # shellcheck disable=SC2086
  kill -STOP $processes
  sleep 4
  # shellcheck disable=SC2086
  kill -CONT $processes
  wait "$launcher" || bad "$mpirun standstill: status $?"
  expect "$mpirun standstill" 1 '^ping: 3 nodes, .*: well$'
done

# A host that is cut off, and one whose node dies.
if [ "$(id -u)" = 0 ] && ip netns list >/dev/null 2>&1; then
  name=weirfail$$
  HOSTS_PREFIX=$name WEIR_DSM_TIMEOUT=3 timeout -k 5 60 "$here/hosts.sh" 3 "$ping" --seconds 40 > out 2>&1 &
  hosts=$!
  all_are_there "cut off"
  ip -n "$name-switch" link set port3 down
  # All three end, the one that is cut off too. Open MPI's mpirun then waits for that host for ever.
  for _ in $(seq 150); do
    [ -z "$(left dsm_ping)" ] && break
    sleep 0.1
  done
  nobody_is_left "cut off"
  expect "cut off" 1 '^weir-dsm: node [01] ends because node 2 \(host3, process [0-9]+\) has not answered for [0-9]+ s$'
  kill -TERM "$hosts"
  wait "$hosts" 2>/dev/null
  timeout -k 5 60 "$here/hosts.sh" 3 "$ping" --seconds 40 --rounds 100 --node 1 --do kill > out 2>&1
  [ $? != 77 ] && expect "hosts kill" 2 '^weir-dsm: node [02] ends because node 1 \(host2, process [0-9]+\) died$'
fi
[ "$failed" = 0 ] && echo "failure: well"
exit "$failed"
