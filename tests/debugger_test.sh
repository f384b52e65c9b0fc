#!/usr/bin/env bash
# weir replay --goto and --gdb: where it stops, what gdb sees of all tasks, that breakpoints and watchpoints come in the recorded order.
# usage: debugger_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"

# says TEXT: the last replay printed it.
says() { grep -qF -- "$1" out || fail "no '$1' in: $(tail -n 30 out)"; }

# replay STATUS OPTION...: with gdb's commands on standard input, if there are any.
replay() {
  local want=$1 status
  shift
  timeout 60 "$weir" replay "$@" >out 2>&1
  status=$?
  [ "$status" = "$want" ] || fail "replay $*: status $status instead of $want: $(tail -n 30 out)"
}

"$weir" record --quiet -o one -- "$programs/watched_total" >recorded || fail "cannot record"
[ "$(cat recorded)" = 'total 404' ] || fail "recorded: $(cat recorded)"

# View coherent shows each task the pages that it has a right to; with copies each sees all of them (docs/guide/replay.md).
"$weir" record --view isolated --quiet -o copies -- "$programs/watched_total" >recorded || fail "cannot record"

# --- a place, without gdb
replay 0 --goto 0-1:10 one </dev/null
grep -qE 'task 0-1 is at event 1[0-9]' out || fail "not there: $(cat out)"  # the first at or after it
grep -q '^total' out && fail "the replay went on: $(cat out)"
replay 0 --goto 0-1:10 copies </dev/null
grep -qE 'task 0-1 is at event 1[0-9]' out || fail "not there: $(cat out)"  # which events the C library makes differs
replay 0 --goto 999999 one </dev/null
says 'task 0-0 never came to event 999999'
says 'total 404'
for wrong in x 0 0-1 0-1: 1:2 -5 0-1:1x 99999999999; do
  replay 125 "--goto=$wrong" one </dev/null
  says 'no place'
done
env PATH=/nowhere "$weir" replay --gdb one >out 2>&1 </dev/null
[ $? = 127 ] || fail "without gdb: $(cat out)"
says 'gdb: command not found'

# --- gdb begins in the program, before its constructors, and says nothing of the runtime
for recording in one copies; do
  printf '%s\n' 'info symbol $pc' | replay 0 --gdb "$recording"
  says '_start in section .text'
  grep -q 'weir::' out && fail "the runtime is shown: $(cat out)"
done

# --- gdb from the beginning: each addition, in the recorded order, twice the same
for round in 1 2; do
  {
    echo 'set pagination off'
    echo 'break main'
    echo 'continue'
    echo 'bt 1'
    echo 'break has_added'  # before it has added another task may have the page
    for ((i = 0; i < 8; i++)); do printf '%s\n' continue 'printf "at %d after %d\\n", total, (int)$rdi'; done
    printf '%s\n' 'info inferiors' delete continue
  } | replay 0 --gdb one
  says 'Breakpoint 1'
  says 'main'
  says 'total 404'
  grep -o 'at [0-9]* after [0-9]*' out >"additions.$round"
  [ "$(wc -l <"additions.$round")" = 8 ] || fail "additions: $(cat "additions.$round") $(tail -n 40 out)"
  awk '{ sum += $4 } $2 != sum { exit 1 } END { exit sum != 404 }' "additions.$round" || fail "not one after the other: $(cat "additions.$round")"
done
cmp -s additions.1 additions.2 || fail "another order: $(diff additions.1 additions.2)"

# --- from a place on: all tasks are there, their stacks reach the program, and what a watchpoint sees
printf '%s\n' 'set pagination off' bt 'info inferiors' 'thread apply all bt' 'watch total' continue 'bt' continue delete continue |
  replay 0 --gdb --goto 0-2:4 copies
says 'adds ('
says 'main ('
says 'Hardware watchpoint 1: total'
says 'Old value = '
says 'total 404'
[ "$(grep -c '^\*\? *[0-9]* *process' out)" -ge 3 ] || fail "not all tasks: $(cat out)"

# --- threads that stay threads: the one that was asked for is chosen
"$weir" record --view direct --quiet -o threads -- "$programs/watched_total" >recorded || fail "cannot record"
printf '%s\n' 'set pagination off' thread 'info threads' 'thread apply all bt' 'break add_to_total' continue bt delete continue | replay 0 --gdb --goto 0-2:4 threads
grep -q 'Current thread is [23] ' out || fail "not the thread that was asked for: $(cat out)"
says 'adds ('
says 'main ('
says 'add_to_total ('
says 'total 404'
[ "$(grep -c '^\*\? *[0-9]* *LWP' out)" -ge 2 ] || fail "not all threads: $(cat out)"

# --- gdb cannot start a replay: what would start the program itself instead is refused, and the replay stands where it stood
for words in run r start starti 'run with words'; do
  printf '%s\n' 'break main' continue "$words" continue | replay 0 --gdb one
  says 'would start the program itself, not its replay: quit, and start weir replay --gdb again'
  says 'total 404'
  grep -qE 'Starting program|Temporary breakpoint' out && fail "$words starts the program: $(cat out)"
  [ "$(grep -c '^total' out)" = 1 ] || fail "$words: $(cat out)"
done

# --- a crash stands where it happens
"$weir" record --quiet -o two -- "$programs/crash_in_thread" >/dev/null 2>&1
printf '%s\n' continue bt | replay 0 --gdb two
says 'SIGSEGV'

# --- so does a program that ends itself: at the signal, with its own functions alone; then it ends as it was recorded
for ends in 'abort_in_thread' 'uncaught_exception'; do
  for view in coherent isolated direct; do
    "$weir" record --view $view --quiet -o "$ends.$view" -- "$programs/$ends" >/dev/null 2>&1
    printf '%s\n' 'set pagination off' continue bt continue 'info inferiors' | replay 0 --gdb "$ends.$view"
    says 'received signal SIGABRT'
    says 'abort ('
    [ $view != direct ] || says 'terminated with signal SIGABRT'  # else another process may stand for the program's end
    grep -qE '^#[1-9][0-9]* .*weir::' out && fail "$ends, $view: Weir's own functions: $(cat out)"
  done
done

[ "$failed" = 0 ] && echo passed
exit "$((failed != 0))"
