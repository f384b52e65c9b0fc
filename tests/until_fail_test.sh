#!/usr/bin/env bash
# weir record --until-fail and --keep-failing: what is kept, what is said, how it ends, and that a signal ends all of it.
# usage: until_fail_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/recordings.sh"
mkdir all

kept() { [ "$(ls all | wc -l)" = "$1" ] || fail "$1 recordings are to be kept: $(ls all)"; }
one_line() { [ "$(wc -l <stderr)" = 1 ] || fail "more than a line: $(cat stderr)"; }

# Fails in its third run, with status 3 or by a signal.
cat >third <<'END'
#!/bin/sh
echo run
echo x >>runs
[ "$(wc -l <runs)" -lt 3 ] && exit 0
[ "$1" = signal ] && kill -ABRT $$
exit 3
END
chmod +x third

# --- the run that fails is kept, and ends the command
ends 3 'run 3 of 10 failed (exit 3): weir replay /' "$weir" record --until-fail 10 -- ./third
one_line
[ "$(cat stdout)" = "$(printf 'run\nrun\nrun')" ] || fail "output: $(cat stdout)"
kept 1
$(sed 's/.*: weir replay/"$weir" replay/; s/"$weir"/eval "$weir"/' stderr) >again 2>again.err </dev/null
[ $? = 3 ] && [ "$(cat again)" = run ] || fail "the replay that it names: $(cat again again.err)"
ends 0 'replayed as recorded (exit 3)' "$weir" replay --verify
ends 0 '' "$weir" rm --all
rm runs
{ ends 134 'run 3 of 10 failed (SIGABRT): weir replay' "$weir" record --until-fail=10 -- ./third signal; } 2>/dev/null
kept 1
ends 0 '' "$weir" rm --all
rm runs
ends 3 "weir replay $work/here" "$weir" record --until-fail 10 -o here -- ./third
[ -d here ] || fail "-o with --until-fail"
kept 0
rm runs
ends 3 '' "$weir" record --until-fail 10 --log words -- ./third
[ -s stderr ] && fail "--log: $(cat stderr)"
grep -q 'weir: run 3 of 10 failed' words || fail "--log: $(cat words)"
ends 0 '' "$weir" rm --all

# --- none fails
ends 0 'did not fail in 2 runs: no recording is kept' "$weir" record --until-fail 2 -- sh -c 'echo out; echo err >&2'
[ "$(cat stdout)" = "$(printf 'out\nout')" ] && [ "$(grep -c '^err$' stderr)" = 2 ] || fail "output: $(cat stdout stderr)"
kept 0
ends 0 'did not fail in 1 run: no recording' "$weir" record --until-fail 1 --view direct -- true

# --- each run reads its input from the beginning; what is ignored is ignored in the second run as in the first
printf 'one\ntwo\n' >input
timeout 30 "$weir" record --until-fail 3 -- cat <input >stdout 2>stderr || fail "input: $(cat stderr)"
[ "$(grep -c one stdout)" = 3 ] || fail "each run has its input: $(cat stdout)"
ends 0 '' "$weir" record --until-fail 3 -- grep SigIgn /proc/self/status
[ "$(sort -u stdout | wc -l)" = 1 ] || fail "signals that are ignored: $(cat stdout)"

# --- one run
ends 0 'exit 0: no recording is kept' "$weir" record --keep-failing -- true
one_line
kept 0
ends 0 '' "$weir" record --keep-failing --quiet -- true
[ -s stderr ] && fail "--quiet: $(cat stderr)"
ends 5 'recorded in' "$weir" record --keep-failing -- sh -c 'exit 5'
kept 1
ends 0 '' "$weir" rm --all

# --- what cannot be run, or not be recorded, is not run again
ends 127 'not found' "$weir" record --until-fail 5 -- no-such-program-anywhere
ends 125 '--until-fail' "$weir" record --until-fail 0 -- true
ends 125 '--until-fail' "$weir" record --until-fail many -- true
ends 125 'there is something already' "$weir" record --until-fail 5 -o input -- true
kept 0

# --- a signal ends the loop and all that runs in it
for signal in INT TERM HUP; do
  for program in "sleep 1234.$$" "sh -c 'trap \"\" INT TERM HUP; sleep 1234.$$ & wait; wait; wait'" true; do
    # A background command of a script ignores SIGINT: perl gives it back.
    eval "exec timeout 60 perl -e '\$SIG{INT} = \"DEFAULT\"; exec @ARGV' '$weir' record --until-fail 1000000 -- $program" >stdout 2>stderr </dev/null &
    shell=$!
    for _ in {1..200}; do  # until there is a program
      pid=$(pgrep -x -P $shell weir)
      [ -n "$pid" ] && [ -n "$(cat /proc/$pid/task/$pid/children 2>/dev/null)" ] && break
      sleep 0.05
    done
    sleep 0.3
    kill -$signal "$pid"
    wait $shell
    status=$?
    [ $status = $((128 + $(kill -l $signal))) ] || fail "SIG$signal, $program: status $status: $(cat stderr)"
    pgrep -f "sleep 1234.$$" >/dev/null && fail "SIG$signal, $program: the program goes on"
    kept 0
  done
done 2>/dev/null

echo "until a run fails: $failed failures"
[ "$failed" = 0 ]
