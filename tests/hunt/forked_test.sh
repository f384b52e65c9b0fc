#!/usr/bin/env bash
# weir hunt: a run that is forked before the first thread is the run from the start, or is not forked, for a reason that is named.
# usage: forked_test.sh BUILD [short]
set -uo pipefail
ulimit -c 0

planted=$(realpath "$(dirname "$0")") is_short=${2:-}
. "$planted/../recordings.sh"
both=$1/bin/hunt_both_ways
compile() { "${@:2}" -O1 -g -w -pthread -I"$planted/programs" -o "$1" || fail "compile $1"; }
compile same gcc "$planted/forked/same.c"
compile refused gcc "$planted/forked/refused.c"

alike() { timeout 100 "$both" "$@" >out 2>&1 </dev/null || fail "$*: $(cat out)"; }
not_forked() { alike --runs 2 --refused "$2" ./refused "$1"; }
if [ -n "$is_short" ]; then
  for what in ids mutexes output; do alike --runs 2 ./same $what; done
  not_forked pipe 'a pipe open'
  # --- what was found before an interrupt is told
cat >often.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile int n;
static void* add(void* unused) {
  for (int i = 0; i < 200; i++) n++;
  return unused;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  if (n != 600) abort();
}
END
gcc -O1 -pthread often.c -o often
timeout 60 "$weir" hunt --keep-going --runs 100000000 --time 50 -- ./often 2>stderr </dev/null &
hunt=$!
sleep 3
kill -INT "$(pgrep -P $hunt -x weir)"
wait $hunt
grep -q '1 failure in .*: interrupted' stderr || fail "interrupted, with a failure: $(tail -3 stderr)"
grep -q 'weir run --order serial .*--schedule' stderr || fail "interrupted, without a command: $(cat stderr)"

echo "forked runs: $failed failures"
  exit "$((failed > 0))"
fi

compile start g++ -std=c++20 "$planted/forked/start.cc"
compile openmp gcc -fopenmp -DFIXED "$planted/programs/omp_sum.c"
compile wakes gcc -DFIXED "$planted/programs/signal_before_wait.c"
echo '0123456789abcdefghijklmnopqrstuvwxyz' >numbers

# --- the same runs
for what in ids mutexes file output clock child exec names mask abort exit; do
  alike --runs 6 ./same $what
done
alike --runs 6 --input numbers ./same stdin
alike --runs 50 ./same
alike --runs 6 ./start
alike --runs 6 ./openmp

# --- not forked, and why
not_forked pipe 'a pipe open'
not_forked socket 'a socket open'
not_forked eventfd 'eventfd] open'
not_forked epoll 'eventpoll] open'
not_forked memfd 'open for writing'
not_forked write 'written)'
not_forked wrote 'written)'
not_forked unlink 'called mkdir (removed)'
not_forked alarm 'a timer'
not_forked timer 'called timer_create'
not_forked shared 'shared memory'
not_forked shmat 'called shmget'
not_forked dontfork 'called madvise'
not_forked child 'a child process'
not_forked lock 'called fcntl'
not_forked one 'ended before it has made a thread'

# --- the report says which
ends 0 'runs were forked at the creation of the first thread' "$weir" hunt --runs 10 -- ./wakes
ends 0 'each run from the start: the program has a pipe open' "$weir" hunt --runs 5 -- ./refused pipe
ends 0 'no failure in 5' "$weir" hunt --runs 5 --no-fork-server -- ./wakes
! grep -q 'forked' stderr || fail "--no-fork-server: $(cat stderr)"

# --- the server dies in the middle: the search goes on without it
cat >slow.c <<'END'
#include <pthread.h>
#include <unistd.h>
static void* nothing(void* unused) { return usleep(1000), unused; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, nothing, NULL);
  pthread_join(thread, NULL);
  return 0;
}
END
cat >hangs.c <<'END'
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void* sleeps(void* unused) {
  if (fork() == 0) execlp("sleep", "sleep", "1234.5", (char*)0);
  return wait(NULL), unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, sleeps, NULL);
  pthread_join(thread, NULL);
  return 0;
}
END
compile slow gcc slow.c
compile hangs gcc hangs.c
cp slow srv$$
timeout 60 "$weir" hunt -j1 --runs 3000 --time 20 -- ./srv$$ 2>stderr </dev/null &
hunt=$!
sleep 2
server=$(pgrep -o -x "srv$$" | head -1)
[ -n "$server" ] && kill -9 "$server" || fail "there is no server"
wait $hunt
[ $? = 0 ] || fail "without its server: $(cat stderr)"
grep -q 'each run from the start: the process that was forked for each run has ended' stderr || fail "server killed: $(cat stderr)"

# --- a run that hangs is ended, with all that it has started; so are all when the command is interrupted
ends 66 'time' "$weir" hunt --schedule w3:default --timeout 1 -- ./hangs
pgrep -f '^sleep 1234.5$' && fail "a child of a run goes on"
cp slow left$$
timeout 60 "$weir" hunt --runs 100000 --time 50 -- ./left$$ 2>stderr </dev/null &
hunt=$!
sleep 2
command=$(pgrep -P $hunt -x weir)
kill -INT "$command"
wait $hunt
sleep 0.5
pgrep -x "left$$" && fail "SIGINT: processes are left"

# --- what was found before an interrupt is told
cat >often.c <<'END'
#include <pthread.h>
#include <stdlib.h>
static volatile int n;
static void* add(void* unused) {
  for (int i = 0; i < 200; i++) n++;
  return unused;
}
int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], 0);
  if (n != 600) abort();
}
END
gcc -O1 -pthread often.c -o often
timeout 60 "$weir" hunt --keep-going --runs 100000000 --time 50 -- ./often 2>stderr </dev/null &
hunt=$!
sleep 3
kill -INT "$(pgrep -P $hunt -x weir)"
wait $hunt
grep -q '1 failure in .*: interrupted' stderr || fail "interrupted, with a failure: $(tail -3 stderr)"
grep -q 'weir run --order serial .*--schedule' stderr || fail "interrupted, without a command: $(cat stderr)"

echo "forked runs: $failed failures"
[ "$failed" = 0 ]
