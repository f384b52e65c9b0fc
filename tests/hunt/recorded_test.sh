#!/usr/bin/env bash
# The run that weir hunt finds is kept as a recording: it replays each time, gdb stops where it fails, and it is
# a recording like others. weir record --schedule makes one without a hunt.
# usage: recorded_test.sh BUILD
set -uo pipefail
ulimit -c 0

planted=$(realpath "$(dirname "$0")/programs")
. "$(dirname "$0")/../recordings.sh"
ends_limit=120
compile() { gcc -O1 -g -Wall -Wextra -pthread -I"$planted" "${@:2}" -o "$1" || fail "compile $1"; }
said() { grep -qF -- "$1" stderr || fail "not said: $1: $(cat stderr)"; }
in_gdb() { { echo "set width 0"; cat; } | timeout 100 "$weir" replay --gdb "$@" >out 2>&1; }
says() { grep -qE -- "$1" out || fail "gdb: no '$1' in: $(tail -n 30 out)"; }
# verified NAME TIMES: it replays as recorded, so often.
verified() {
  for _ in $(seq "$2"); do
    timeout 60 "$weir" replay --verify "$1" >out 2>stderr || fail "replay of $1: $(cat stderr)"
  done
}
named() { sed -n 's/^ *weir replay --gdb //p' stderr; }

# --- a lost update: recorded, replayed, seen in gdb
compile lost_update "$planted/lost_update.c"
ends 66 'it is recorded:' "$weir" hunt --runs 500 -- ./lost_update
name=$(named)
"$weir" ls | grep -q "^$name .*exit 1" || fail "weir ls: $(cat stderr; "$weir" ls)"
verified "$name" 20
grep -q 'violated: counter == 2' stderr || fail "what it wrote: $(cat stderr)"
printf '%s\n' 'break weir_switch' 'continue' 'bt' 'frame function add' 'print read' 'print counter' \
  'delete' 'break _exit' 'continue' 'bt' 'print counter' quit | in_gdb "$name"
says '#[0-9]+ .* add \(unused=0x0\) at .*lost_update.c:9'
says '\$1 = 0'
says '\$2 = 0'
says 'in main \(\) at .*lost_update.c:16'
says '\$3 = 1'
ends 0 'is at event' "$weir" replay --goto 0-1:4 "$name"
"$weir" rm "$name" >/dev/null 2>&1 || fail "weir rm"

# --- a signal, an assertion, a deadlock, a misuse of the heap
compile crash "$planted/null_after_check.c"
ends 66 'it is recorded:' "$weir" hunt --runs 2000 --shrink-time 5 -- ./crash
name=$(named)
verified "$name" 5
# A fault in counted code is shown twice, and in between the program runs on by itself: words that come then are in vain.
for words in continue bt bt quit; do echo "$words"; sleep 2; done | in_gdb "$name"
says 'received signal SIGSEGV'
says '^#0 .*in use \(unused='
cat >asserts.c <<'END'
#include <assert.h>
#include <pthread.h>
static int counter;
static void* add(void* unused) {
  const int read = counter;
  counter = read + 1;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(counter == 2);
  return 0;
}
END
compile asserts asserts.c
ends 66 'it is recorded:' "$weir" hunt --runs 500 --recording kept -- ./asserts
[ -d kept ] && grep -q 'weir replay --gdb .*/kept' stderr || fail "--recording: $(cat stderr)"
verified kept 5
printf '%s\n' continue bt quit | in_gdb kept
says 'SIGABRT'
says 'main \(\) at asserts.c:15'
compile deadlock "$planted/lock_order.c"
ends 66 'it is recorded:' "$weir" hunt --runs 500 -- ./deadlock
verified "$(named)" 5
grep -q 'deadlock' stderr || fail "deadlock: $(cat stderr)"
compile freed "$planted/heap_count_plain.c"
ends 66 'it is recorded:' "$weir" hunt --runs 500 -- ./freed
verified "$(named)" 5
grep -q 'use after free' stderr || fail "heap: $(cat stderr)"

# --- signals between threads; a child process; a program that reads a file
compile signals "$planted/signal_torn.c"
ends 66 'it is recorded:' "$weir" hunt --runs 2000 --shrink-time 5 -- ./signals
verified "$(named)" 5
cat >forks.c <<'END'
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int counter, step;
static void* add(void* unused) {
  const int read = counter;
  counter = read + step;
  return unused;
}
int main(void) {
  char line[32] = "";
  if (!fgets(line, sizeof line, stdin)) return 2;
  line[strcspn(line, "\n")] = 0;
  const pid_t child = fork();
  if (child == 0) {
    printf("child of %s\n", line);
    fflush(stdout);
    _exit(1);
  }
  int how = 0;
  waitpid(child, &how, 0);
  step = WEXITSTATUS(how);
  pthread_t a, b;
  pthread_create(&a, 0, add, 0);
  pthread_create(&b, 0, add, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  printf("%s: %d\n", line, counter);
  return counter != 2;
}
END
compile forks forks.c
echo word >input
ends 66 'it is recorded:' "$weir" hunt --runs 500 --stdin input --recording forked -- ./forks
rm input
verified forked 5
[ "$(cat out)" = $'child of word\nword: 1' ] || fail "output of a replay: $(cat out)"

# --- weir record --schedule
ends 1 'recorded in' "$weir" record -o given --schedule 'w3:list:1.0.2>2' -- ./lost_update
verified given 2
ends 0 'no recording is kept' "$weir" record --keep-failing --schedule w3:default -- ./lost_update
ends 1 'recorded in' "$weir" record --keep-failing --schedule 'w3:list:1.0.2>2' -- ./lost_update
ends 125 'there is no such strategy' "$weir" record --schedule w3:best -- ./lost_update
ends 125 '--heap guard goes with --schedule' "$weir" record --heap guard -- ./lost_update
ends 125 '' "$weir" record --view isolated --schedule w3:default -- ./lost_update
ends 125 'recorded with order serial' "$weir" replay --check given

# --- none is wanted, or none can be kept
ends 66 '' "$weir" hunt --runs 500 --no-recording -- ./lost_update
! grep -q recording stderr || fail "--no-recording: $(cat stderr)"
ends 66 'no recording is kept' "$weir" hunt --runs 500 --recording /proc/given -- ./lost_update
ends 125 '--gdb needs the recording' "$weir" hunt --gdb --no-recording -- ./lost_update
printf '%s\n' continue quit | timeout 100 "$weir" hunt --runs 500 --gdb -- ./asserts >out 2>&1
says 'SIGABRT'

echo "recorded hunts: $failed failures"
[ "$failed" = 0 ]
