#!/usr/bin/env bash
# weir check --runs and --deep: what is run, what is said of all runs, how it ends, and what input each run gets.
# usage: check_runs_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
export WEIR_RECORDINGS=$work/all
mkdir all

fail() {
  failed=$((failed + 1))
  echo "FAILED: $*"
}
# check STATUS OPTION... -- PROGRAM: output in `out`, what is said in `err`.
check() {
  local want=$1 status
  shift
  timeout 100 "$weir" check "$@" >out 2>err <"${input:-/dev/null}"
  status=$?
  [ "$status" = "$want" ] || fail "check $*: status $status instead of $want: $(cat err)"
}
says() { for text; do grep -qF -- "$text" err || fail "'$text' is not in: $(cat err)"; done; }
unsaid() { for text; do grep -qF -- "$text" err && fail "'$text' is in: $(cat err)"; done; }
times() { [ "$(grep -c -- "$2" "$3")" = "$1" ] || fail "'$2' is not $1 times in: $(cat "$3")"; }

cat >racy.c <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
long counter;
void* count(void* unused) {
  for (int i = 0; i < 50; i++) counter++;
  return unused;
}
int main(int argc, char** argv) {
  pthread_t one, two;
  pthread_create(&one, 0, count, 0);
  pthread_create(&two, 0, count, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  puts("output");
  fflush(stdout);
  if (argc > 1 && !strcmp(argv[1], "abort")) abort();
  return argc > 1 ? atoi(argv[1]) : 0;
}
C
sed 's/counter++/__atomic_add_fetch(\&counter, 1, 5)/' racy.c >clean.c
# Races only if `first` comes to the lock after `second`, which it never does on a quiet machine.
cat >rare.c <<'C'
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
int ready;
long counter;
void* first(void* unused) {
  pthread_mutex_lock(&m);
  if (ready) counter++;
  ready = 1;
  pthread_mutex_unlock(&m);
  return unused;
}
void* second(void* unused) {
  usleep(1500);
  pthread_mutex_lock(&m);
  const int is_late = !ready;
  ready = 1;
  pthread_mutex_unlock(&m);
  if (is_late) counter++;
  return unused;
}
int main(void) {
  pthread_t one, two;
  pthread_create(&one, 0, first, 0);
  pthread_create(&two, 0, second, 0);
  pthread_join(one, 0);
  pthread_join(two, 0);
  return 0;
}
C
# Reads all of its input; another than the first run's is a failure.
cat >reads.c <<'C'
#include <stdio.h>
#include <string.h>
int main(void) {
  static char text[1 << 18];
  const size_t size = fread(text, 1, sizeof text, stdin);
  printf("%zu %.8s\n", size, text);
  return size != 200000 || strncmp(text, "one\ntwo\n", 8) != 0;
}
C
# Each run but the first ends otherwise.
cat >other.sh <<'C'
#!/bin/sh
echo output
echo "words of the program" >&2
[ -e was ] && exit 4
touch was
C
chmod +x other.sh
for name in racy clean rare reads; do gcc -g -O1 -pthread "$name.c" -o "$name" || fail gcc; done

# --- several runs, one report
check 66 --runs 3 -- ./racy
times 1 'weir: data race: ' err
times 1 output out
says 'met: in run 1 of 3' 'weir: 1 race found in 3 runs; ' ' were looked at in all' 'met in 3 of 3 runs, first in run 1, '
check 66 --runs 3 --show-output -- ./racy
times 3 output out
check 66 --runs 1000 --stop-at-first -- ./racy
says 'weir: 1 race found; '
check 66 --runs 1000 --halt -- ./racy
check 0 --runs 3 -- ./clean
says 'weir: no race found in 3 runs: '
check 0 --runs 2 --quiet -- ./clean
[ -s err ] && fail "--quiet: $(cat err)"
check 66 --runs 80 --stop-at-first -- ./rare
says 'data race: counter: '

# --- a report for programs
check 66 --runs 3 --format json --output json -- ./racy
python3 - json <<'P' || fail "JSON: $(cat json)"
import json, sys
report = json.load(open(sys.argv[1]))
(race,) = report['races']
runs = report['runs']
assert [run['number'] for run in runs] == [1, 2, 3] and runs[0]['options'] == '' and runs[1]['options'] == '--delay 1'
assert all(run['ended'] == 'exit 0' for run in runs)
assert race['met'] == {'runs': 3, 'first_run': 1, 'first_options': ''} and race['fingerprint']
assert sum(run['looked_at']['accesses'] for run in runs) == report['looked_at']['accesses']
P
check 66 --runs 2 --format sarif --output sarif -- ./racy
python3 - sarif <<'P' || fail "SARIF: $(cat sarif)"
import json, sys
(run,) = json.load(open(sys.argv[1]))['runs']
(result,) = run['results']
assert result['properties'] == {'metInRuns': 2, 'firstRun': 1, 'firstOptions': ''} and result['partialFingerprints']
P

# --- how it ends: the first run's status goes before what was found, that before a later run's
check 3 --runs 2 -- ./racy 3
{ check 134 --runs 2 -- ./racy abort; } 2>/dev/null
check 4 --runs 2 -- ./other.sh
says 'run 2 of 2 (--delay 1) ended with exit 4, the first with exit 0' 'the end of its standard error:' 'words of the program'
times 1 output out
check 125 --runs 1 --run-timeout 0.5 -- sleep 50
says 'the run was ended after ' 's; --run-timeout sets another limit'
check 125 --runs 2 --run-timeout 1 -- sh -c '[ -e slow ] && exec sleep 50; touch slow'
says 'run 2 of 2 (--delay 1) was ended after 1 s, the first took '
before=$SECONDS
timeout -s TERM 2 "$weir" check --runs 100 -- sleep 1 >out 2>err
[ $((SECONDS - before)) -lt 20 ] || fail "a signal ends all runs: $(cat err)"

# --- each run has its input from the beginning
{ printf 'one\ntwo\n' && head -c 199992 /dev/zero | tr '\0' x; } >text
input=text check 0 --runs 3 --show-output -- ./reads
times 3 '^200000 one' out
cat text | timeout 60 "$weir" check --runs 3 --show-output -- ./reads >out 2>err || fail "a pipe: $(cat err)"
times 3 '^200000 one' out
cat text | timeout 60 "$weir" check --runs 2 --show-output --deep -- ./reads >out 2>err || fail "a pipe, recorded: $(cat err)"
times 2 '^200000 one' out
exec 3< <(exec sleep 50)
timeout 30 "$weir" check --runs 2 -- ./clean >out 2>err <&3 || fail "a pipe that nobody closes: $(cat err)"
kill $!
exec 3<&-
python3 - "$weir" <<'P' >out 2>err && fail 'a socket'
import socket, subprocess, sys
ends = socket.socketpair()
sys.exit(subprocess.run([sys.argv[1], 'check', '--runs', '2', '--', './clean'], stdin=ends[0]).returncode)
P
says 'standard input is a socket'

# --- recorded and replayed in one command
check 66 --deep -- ./racy
times 1 'weir: data race: ' err
times 1 output out
says 'weir: 1 race found; '
unsaid recorded replayed
check 0 --deep -- ./clean
says 'weir: no race found: '
check 3 --deep -- ./racy 3
says 'weir: data race: '
{ check 134 --deep -- ./racy abort; } 2>/dev/null
says 'weir: data race: '
check 66 --deep --runs 3 -- ./racy
times 1 output out
says 'met in 3 of 3 runs, first in run 1, '
[ -z "$(ls all)" ] || fail "recordings are left: $(ls all)"
check 66 --deep --recording kept -- ./racy
timeout 60 "$weir" replay --verify kept >out 2>err || fail "the recording that is kept: $(cat err)"
check 127 --deep -- "$build/none/such"
for options in '--deep --exhaustive' '--deep --hazards all' '--deep --suggest' '--runs 2 --suggest' '--recording x' '--stop-at-first'; do
  # shellcheck disable=SC2086
  check 125 $options -- ./clean
done
check 125 --deep --runs 2 --recording x -- ./clean
says '--recording: one recording is kept'

exit $((failed != 0))
