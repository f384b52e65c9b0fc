#!/usr/bin/env bash
# Order serial: a schedule is a run, and schedules find planted bugs.
# usage: serial_test.sh BUILD
set -uo pipefail
ulimit -c 0
build=$1
weir=$build/bin/weir programs=$build/tests/serial
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1

fail() { echo "FAILED: $*"; exit 1; }
# run PROGRAM SCHEDULE [OPTION...]: its status in $status; out, err and log here.
run() {
  local program=$1 schedule=$2
  shift 2
  timeout 20 "$weir" run --order serial --schedule "$schedule" --schedule-log log "$@" \
    -- "$programs/$program" >out 2>err </dev/null
  status=$?
}
value() { awk -v key="$1" '$1 == key { print $2; exit }' log; }

# --- strategies find each planted bug, and the list that the log names shows it again, 20 times
# What a log says of the run: strategies that look at memory say besides what tasks shared.
path_of() { tail -n +4 "$1" | grep -v '^shared '; }

finds() {  # PROGRAM END STRATEGY...
  local program=$1 end=$2 found length
  shift 2
  run "$program" w3:default
  [ "$status" = 0 ] || fail "$program: the default schedule ends with $status"
  length=$(value steps)
  for strategy in "$@"; do
    found=
    for seed in $(seq 1 300); do
      run "$program" "w3:$strategy:seed=$seed,length=$length"
      [ "$status" = 0 ] || { found=$seed; break; }
      [ "$(value steps)" -le "$length" ] || length=$(value steps)  # the first run may be the shortest
    done
    [ -n "$found" ] || fail "$program: $strategy finds nothing in 300 schedules"
    [ "$(tail -n 1 log)" = "end $end" ] || fail "$program: $strategy ends with '$(tail -n 1 log)'"
    echo "$program: $strategy needs $found schedules (k $length)"
  done
  local list first
  list=$(value list) first=$status
  path_of log >first.log
  for again in $(seq 1 20); do
    run "$program" "$list" --delay "$again"
    [ "$status" = "$first" ] || fail "$program: $list ends with $status, not with $first"
    path_of log | cmp -s - first.log || fail "$program: $list makes another run: $(cat log)"
    [ "$(value not-followed)" = 0 ] || fail "$program: $list is not followed"
  done
}
finds lost_update 'exit 1' random pct pb race pos
finds plain_add 'exit 1' random pct pb race pos
finds order_violation 'signal 11' random pct pb race pos
finds atomicity 'signal 6' random pct pb race pos
finds lock_order deadlock random pct pb race pos
finds lost_wakeup deadlock random pct

# --- what a deadlock says
run lock_order "w3:list:0.3.0>2+2.1.0>1"
if [ "$status" = 66 ]; then
  grep -q '^weir: deadlock: ' err || fail "no word of the deadlock: $(cat err)"
  [ "$(grep -c '^waits ' log)" = 3 ] || fail "not three waits: $(cat log)"
fi

# --- a loop without an event ends
run spin w3:default
[ "$status" = 0 ] && [ "$(cat out)" = seen ] || fail "spin: $status $(cat err)"
run spin w3:pct:seed=3
[ "$status" = 0 ] || fail "spin by pct: $status $(cat err)"

# --- an instruction that reads and writes memory does the same in two steps
expected=$("$programs/changes")
for schedule in w3:default w3:pos:seed=1 w3:random:seed=2,p=0.3 w3:race:seed=3; do
  run changes "$schedule"
  [ "$status" = 0 ] && [ "$(cat out)" = "$expected" ] ||
    fail "changes under $schedule: $status, $(cat out), not $expected: $(cat err)"
done

# --- who waits in a loop is seen to, soon, and by steps alone
for schedule in w3:default w3:random:seed=5,p=0.1 w3:pct:seed=6,length=500 w3:pos:seed=7; do
  run waiting "$schedule"
  [ "$status" = 0 ] && [ "$(cat out)" = all ] || fail "waiting under $schedule: $status $(cat err)"
  [ "$(value steps)" -lt 6000 ] || fail "waiting under $schedule: $(value steps) steps"
  list=$(value list)
  path_of log >first.log
  run waiting "$list" --delay 5
  path_of log | cmp -s - first.log || fail "waiting: $list makes another run: $(diff log first.log)"
done
for schedule in w3:default w3:pct:seed=1,length=50 w3:pct:seed=2,length=50; do
  run starving "$schedule" --step-limit 40000000
  [ "$status" = 0 ] || fail "starving under $schedule: $status $(cat err)"
done

# --- who computes is counted, and does not wait
for schedule in w3:default w3:pct:seed=1,length=50000 w3:random:seed=2,p=0.001; do
  run computing "$schedule" --step-limit 100000000
  [ "$status" = 0 ] || fail "computing under $schedule: $status $(cat err)"
  # Two threads that compute for 10 ms of virtual time make two million steps in a second part.
  [ "$(value steps)" -gt 5000000 ] || fail "computing under $schedule: $(value steps) steps"
done

# --- the limit, and loops that wait for each other
run counting w3:default --step-limit 500000
[ "$status" = 66 ] || fail "counting: $status"
[ "$(tail -n 1 log)" = "end limit" ] || fail "counting: $(tail -n 1 log)"
grep -q 'weir: the program has made 500000 steps' err || fail "counting: $(cat err)"
[ "$(grep -c 'weir:   task . stands at' err)" = 2 ] || fail "counting: $(cat err)"
run endless w3:default --step-limit 100000000
[ "$status" = 66 ] || fail "endless: $status"
[ "$(tail -n 1 log)" = "end limit" ] || fail "endless: $(tail -n 1 log)"
grep -q 'weir: all tasks wait for each other, some of them in loops' err || fail "endless: $(cat err)"
[ "$(value instructions)" -lt 200000 ] || fail "endless: $(value instructions) steps"

# --- a switch that cannot be made
run lost_update "w3:list:0.1.0>7+9.9.9>1"
[ "$status" = 0 ] && [ "$(value not-followed)" = 2 ] || fail "not followed: $(cat log)"

# --- the detail of a log changes nothing of the run
for schedule in w3:default w3:random:seed=3,p=0.1 w3:pct:seed=5,depth=4 w3:pos:seed=4 \
  w3:random:seed=6,fair=50; do
  for program in atomicity lock_order spin; do
    run $program $schedule
    cp log plain.log
    run $program $schedule --schedule-log-detail
    grep -q '^place switch' log || fail "$program: $schedule: no detail"
    grep -vE '^(map|place|touch|touches-cut|name|task|block)( |$)' log | cmp -s - plain.log ||
      fail "$program: $schedule: another run with detail"
  done
done
run lost_update w3:default --schedule-log-detail
grep -q '^touch [0-9]* [12] w 4 ' log || fail "no accesses: $(grep -v place log)"

# --- one task
timeout 20 "$weir" run --order serial --schedule-log log -- /bin/true || fail "true"
[ "$(value tasks)" = 1 ] && [ "$(tail -n 1 log)" = "end exit 0" ] || fail "one task: $(cat log)"

# --- what --stat says of it: all is one serial phase
run spin w3:default --stat
grep -q '^weir: serial phases 100.0 %' err || fail "--stat: $(cat err)"

# --- what does not fit
refused() {  # WORDS OPTION...
  local words=$1
  shift
  timeout 20 "$weir" run "$@" -- "$programs/spin" >out 2>err </dev/null
  [ $? = 125 ] || fail "$*: no status 125"
  grep -qF -e "$words" err || fail "$*: no word of '$words': $(cat err)"
}
refused "a schedule begins with w3:" --order serial --schedule random
refused "this version of Weir knows w3 only" --order serial --schedule w1:default
refused "there is no such strategy" --order serial --schedule w3:chaos
refused "a switch is written" --order serial --schedule w3:list:1.2
refused "there is no such key" --order serial --schedule w3:pct:sead=1
refused "go with --order serial" --order token --schedule w3:default
refused "--order serial goes with --view direct" --order serial --view isolated
refused "--schedule-log" --order serial --schedule-log /nowhere/at/all

timeout 20 "$weir" det --order serial --schedule w3:random:seed=4 -- "$programs/spin" >out ||
  fail "weir det --order serial"
echo "serial: all as expected"
