#!/usr/bin/env bash
# `weir check` of programs that come to a deadlock: it is reported, and the program is ended. Nothing is said of
# programs that only wait for long. All run at once, since a deadlock is told after 3 s.
# usage: deadlocks_test.sh BUILD
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
. "$here/hazards/programs.sh"

# both NAME <source: begins it wrong and right. One run, each in a folder of its own.
both() {
  local name=$1 which
  cat >"$name.c"
  for which in wrong right; do
    gcc -g -O1 -w -DWRONG=$([ $which = wrong ] && echo 1 || echo 0) -I"$here/hazards" "$name.c" -o "$name.$which" \
      -pthread || failed=$((failed + 1))
    begin "$name.$which"
  done
}
# begin NAME [OPTION...]: NAME.err, NAME.status
begin() {
  local name=$1
  shift
  (
    timeout 60 "$weir" check "$@" -- ./"$name" >"$name.out" 2>"$name.err" </dev/null
    echo $? >"$name.status"
  ) &
}
# ended NAME STATUS WORDS...: it ended so, and each of WORDS is in what was said.
ended() {
  local name=$1 status=$2 words
  shift 2
  [ "$(cat "$name.status")" = "$status" ] || fail "$name: status $(cat "$name.status"): $(cat "$name.err")"
  for words in "$@"; do grep -q "$words" "$name.err" || fail "$name: no '$words' in: $(cat "$name.err")"; done
}

both two_locks <<'C'
#include "lifetime.h"
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;
static void nested(pthread_mutex_t* outer, pthread_mutex_t* inner) {
  pthread_mutex_lock(outer);
  if (WRONG) pthread_barrier_wait(&both);
  pthread_mutex_lock(inner), pthread_mutex_unlock(inner), pthread_mutex_unlock(outer);
}
static void* one(void* p) { return nested(&a, &b), p; }
static void* two(void* p) { return WRONG ? nested(&b, &a) : nested(&a, &b), p; }
int main(void) {
  pthread_barrier_init(&both, NULL, 2);
  const pthread_t x = begin(one), y = begin(two);
  return pthread_join(x, NULL), pthread_join(y, NULL), 0;
}
C
both lost_signal <<'C'
#include "lifetime.h"
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void* work(void* p) {
  pthread_mutex_lock(&m);
  while (WRONG || !ready) pthread_cond_wait(&condition, &m);
  return pthread_mutex_unlock(&m), p;
}
int main(void) {
  const pthread_t thread = begin(work);
  pthread_mutex_lock(&m), ready = 1, pthread_cond_signal(&condition), pthread_mutex_unlock(&m);
  return pthread_join(thread, NULL), 0;
}
C
both semaphores <<'C'
#include "lifetime.h"
static sem_t other;
static void* work(void* p) { return sem_wait(&other), sem_post(&done), p; }
int main(void) {
  sem_init(&done, 0, 0), sem_init(&other, 0, 0);
  const pthread_t thread = begin(work);
  if (!WRONG) sem_post(&other);
  return sem_wait(&done), sem_post(&other), pthread_join(thread, NULL), 0;
}
C
both missing_at_barrier <<'C'
#include "lifetime.h"
static pthread_barrier_t barrier;
static void* work(void* p) { return pthread_barrier_wait(&barrier), p; }
int main(void) {
  pthread_barrier_init(&barrier, NULL, WRONG ? 3 : 2);
  const pthread_t x = begin(work), y = begin(work);
  return pthread_join(x, NULL), pthread_join(y, NULL), 0;
}
C

# None: a time limit, input from outside, a handler that may come. The last is said to stand, and goes on.
for name in limited outside handler; do
  program $name <<C
#include "lifetime.h"
#include <signal.h>
#include <time.h>
static void on_alarm(int signal) { sem_post(&done); }
static void* limited(void* p) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until), until.tv_sec += 4;
  return sem_timedwait(&done, &until), p;
}
static void* outside(void* p) { return sleep(4), sem_post(&done), p; }
static void* handler(void* p) { return signal(SIGALRM, on_alarm), alarm(5), sem_wait(&done), p; }
int main(void) { return sem_init(&done, 0, 0), run($name), 0; }
C
  begin $name
done

# Not asked for, or suppressed: it stands as it would without Weir, and is told so.
cp two_locks.wrong not_asked
cp two_locks.wrong suppressed
echo 'deadlock:^nested$' >known
timeout 60 "$weir" check --runs 2 --format json -- ./lost_signal.wrong >several.out 2>several.err &
for name in not_asked suppressed; do
  options="--hazards lifetime"
  [ $name = suppressed ] && options="--suppressions known"
  (
    timeout 6 "$weir" check $options -- ./$name >$name.out 2>$name.err </dev/null
    echo $? >$name.status
  ) &
done
wait

ended two_locks.wrong 66 "^weir: deadlock: wait for " "wait for a at .* by thread" "wait for b at .* by thread" \
  "holding a (mutex" "holding b (mutex" "#1 one two_locks.c:" "#1 two two_locks.c:" "^weir: 1 deadlock and 1 lock-order inversion found"
ended lost_signal.wrong 66 "^weir: deadlock: wait for condition at"
ended semaphores.wrong 66 "^weir: deadlock: wait for other at .*, wait for done at"
ended missing_at_barrier.wrong 66 "^weir: deadlock: wait for barrier at"
for name in two_locks.right lost_signal.right semaphores.right missing_at_barrier.right limited outside handler; do
  ended $name 0 "no race found"
done
for name in not_asked suppressed; do ended $name 124; done
grep -q "no task of the program can go on" not_asked.err || fail "not asked for: $(cat not_asked.err)"
grep -q '"rule": "deadlock"' several.err && grep -q '"count": 2' several.err || fail "JSON of a deadlock in two runs: $(cat several.err)"

exit $((failed != 0))
