#!/usr/bin/env bash
# `weir check` of programs whose signal handlers call what they must not, and of threads that nobody joins; and of
# right ones.
# usage: signal_calls_test.sh BUILD [RUNS]
set -uo pipefail

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
. "$here/hazards/programs.sh"

unsafe="unsafe call in a signal handler"
hazards=default,signal-unsafe

pair "$unsafe" heap <<'C'
#include "handlers.h"
static void handler(int number) { kept = WRONG ? malloc(8) : NULL, free(kept), came = 1; }
static void work(void) { use_the_heap(); }
int main(void) { return during(handler, work), 0; }
C
pair "$unsafe" stream <<'C'
#include "handlers.h"
static void handler(int number) { WRONG ? (void)printf("came\n") : (void)write(1, "came\n", 5), came = 1; }
static void work(void) { printf("works\n"); }
int main(void) { return during(handler, work), 0; }
C
# malloc() in the middle of puts(), which may allocate; and the handler comes first.
pair "$unsafe" both <<'C'
#include "handlers.h"
static void handler(int number) { kept = WRONG ? malloc(8) : NULL, free(kept), came = 1; }
static void work(void) { if (came) puts("works"); }
int main(void) { return during(handler, work), 0; }
C
pair "$unsafe" lock <<'C'
#include "handlers.h"
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static void handler(int number) {
  if (WRONG) { if (came == 2) pthread_mutex_lock(&one), pthread_mutex_unlock(&one); }
  else pthread_mutex_lock(&two), pthread_mutex_unlock(&two);
  came = 1;
}
static void work(void) {
  pthread_mutex_lock(&one), pthread_mutex_unlock(&one);
  came = 2;
}
int main(void) { return during(handler, work), 0; }
C

# Right: the signal comes only where nothing of that sort is called; the thread sends it itself; another thread has it.
program waits <<'C'
#include "handlers.h"
static void handler(int number) { kept = malloc(8), free(kept), came = 1; }
static void* work(void* p) {
  sigset_t none;
  sigemptyset(&none);
  for (int i = 0; i < 3; i++) {
    use_the_heap();
    came = 0;
    sem_post(&ready);
    while (!came) sigsuspend(&none);
  }
  return p;
}
int main(void) {
  sigset_t usr;
  sigemptyset(&usr), sigaddset(&usr, SIGUSR1), pthread_sigmask(SIG_BLOCK, &usr, NULL);
  signal(SIGUSR1, handler), sem_init(&ready, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 3; i++) sem_wait(&ready), pthread_kill(thread, SIGUSR1);
  return pthread_join(thread, NULL), 0;
}
C
program raised <<'C'
#include "handlers.h"
static void handler(int number) { kept = malloc(8), free(kept), came++; }
static void* work(void* p) { return use_the_heap(), raise(SIGUSR1), kill(getpid(), SIGUSR1), use_the_heap(), p; }
int main(void) {
  signal(SIGUSR1, handler);
  return run(work), came < 1;
}
C
program another_thread <<'C'
#include "handlers.h"
static void handler(int number) { kept = malloc(8), free(kept), came = 1; }
static void* waits(void* p) {
  sem_post(&ready);
  while (!came) pause();
  return p;
}
int main(void) {
  signal(SIGUSR1, handler), sem_init(&ready, 0, 0);
  pthread_t thread;
  pthread_create(&thread, NULL, waits, NULL);
  use_the_heap(), sem_wait(&ready);
  for (int i = 0; i < 5; i++) usleep(5000), pthread_kill(thread, SIGUSR1), use_the_heap();
  return pthread_join(thread, NULL), 0;
}
C
for name in waits raised another_thread; do clean $name; done

timeout 60 "$weir" check --hazards "$hazards" -- ./heap.wrong >out 2>err
for words in "use of the heap in a handler of SIGUSR1 at heap.c:2" "use of the heap that it may interrupt at .*handlers.h:" \
  "^weir: 1 unsafe call in a signal handler found"; do
  grep -q "$words" err || fail "no '$words' in: $(cat err)"
done
clean heap.wrong --hazards lock-order
clean heap.wrong --hazards default
echo 'signal:^handler$' >known
clean heap.wrong --suppressions known
timeout 60 "$weir" check --hazards "$hazards" --format json -- ./heap.wrong >out 2>err
grep -q '"rule": "signal-unsafe-call"' err || fail "JSON: $(cat err)"

# --- threads that have ended and that nobody joins: only if it is asked for

program leaks <<'C'
#include "handlers.h"
static void* work(void* p) { return sem_post(&ready), p; }
static void* detaches(void* p) { return pthread_detach(pthread_self()), sem_post(&ready), p; }
int main(int count, char** arguments) {
  pthread_t thread;
  pthread_attr_t detached;
  sem_init(&ready, 0, 0);
  pthread_attr_init(&detached), pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  for (int i = 0; i < 3; i++) {
    pthread_create(&thread, NULL, work, NULL), pthread_join(thread, NULL);
    pthread_create(&thread, NULL, work, NULL), pthread_detach(thread);
    pthread_create(&thread, &detached, work, NULL);
    pthread_create(&thread, NULL, detaches, NULL);
    if (count > 1) pthread_create(&thread, NULL, work, NULL);
    for (int k = 0; k < 4 + (count > 1); k++) sem_wait(&ready);
  }
  usleep(30000);
  return 0;
}
C
cat >leaks_often <<'C'
#!/bin/sh
exec ./leaks again
C
chmod +x leaks_often
clean leaks --hazards all
clean leaks_often
has leaks_often "thread leak: creation of thread T[0-9]*.* at leaks.c:14" --hazards default,thread-leak
grep -q "met 3 times: creation of thread" err || fail "not met 3 times: $(cat err)"
echo 'thread:^main$' >known
clean leaks_often --hazards thread-leak --suppressions known

exit $((failed != 0))
