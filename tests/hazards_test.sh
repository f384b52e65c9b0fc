#!/usr/bin/env bash
# `weir check` of programs that do not race but may go wrong: each kind of hazard with a program that has it and
# one that does the same rightly, of which nothing is said in any of several runs.
# usage: hazards_test.sh BUILD [RUNS]
set -uo pipefail
ulimit -c 0

. "$(dirname "${BASH_SOURCE[0]}")/work.sh"
. "$here/hazards/programs.sh"

# --- orders of locks: two, three, read-write and spin locks
program two <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* ba(void* p) { return nested(&b, &a), p; }
int main(void) { return run(ab), run(ba), 0; }
C
has two "lock-order inversion: lock of a at .*, lock of b at"
grep -q "holding a (mutex" err && grep -q "holding b (mutex" err || fail "the locks that are held: $(cat err)"
[ "$(grep -c "#1 [ab]* two.c" err)" = 2 ] || fail "both stacks: $(cat err)"

program three <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* bc(void* p) { return nested(&b, &c), p; }
static void* ca(void* p) { return nested(&c, &a), p; }
int main(void) { return run(ab), run(bc), run(ca), 0; }
C
has three "lock-order inversion: lock of a at"
[ "$(grep -c "holding [abc] (mutex" err)" = 3 ] || fail "three sides: $(cat err)"

program readers_writer <<'C'
#include "lock_order.h"
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static void* rs(void* p) {
  pthread_rwlock_rdlock(&r), pthread_rwlock_wrlock(&s), pthread_rwlock_unlock(&s), pthread_rwlock_unlock(&r);
  return p;
}
static void* sr(void* p) {
  pthread_rwlock_rdlock(&s), pthread_rwlock_wrlock(&r), pthread_rwlock_unlock(&r), pthread_rwlock_unlock(&s);
  return p;
}
int main(void) { return run(rs), run(sr), 0; }
C
has readers_writer "lock-order inversion: "

program spins <<'C'
#include "lock_order.h"
static pthread_spinlock_t r, s;
static void* rs(void* p) {
  pthread_spin_lock(&r), pthread_spin_lock(&s), pthread_spin_unlock(&s), pthread_spin_unlock(&r);
  return p;
}
static void* sr(void* p) {
  pthread_spin_lock(&s), pthread_spin_lock(&r), pthread_spin_unlock(&r), pthread_spin_unlock(&s);
  return p;
}
int main(void) { return pthread_spin_init(&r, 0), pthread_spin_init(&s, 0), run(rs), run(sr), 0; }
C
has spins "lock-order inversion: "

# A gate that is held at first only.
program gate_once <<'C'
#include "lock_order.h"
static void* ab(void* p) { return lock(&gate), nested(&a, &b), unlock(&gate), nested(&a, &b), p; }
static void* ba(void* p) { return nested(&b, &a), p; }
int main(void) { return run(ab), run(ba), 0; }
C
has gate_once "lock-order inversion: "

# --- no inversion: one order; a gate; one thread; trylock; readers; recursive; memory that is another lock's by then
program one_order <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), nested(&b, &c), nested(&a, &c), p; }
int main(void) { return run(ab), run(ab), 0; }
C
program gated <<'C'
#include "lock_order.h"
static void* ab(void* p) { return lock(&gate), nested(&a, &b), unlock(&gate), p; }
static void* ba(void* p) { return lock(&gate), nested(&b, &a), unlock(&gate), p; }
int main(void) { return run(ab), run(ba), 0; }
C
program one_thread <<'C'
#include "lock_order.h"
static void* both(void* p) { return nested(&a, &b), nested(&b, &a), p; }
static void* one(void* p) { return nested(&a, &c), p; }
int main(void) { return run(both), run(one), 0; }
C
program tries <<'C'
#include "lock_order.h"
static void* ab(void* p) { return nested(&a, &b), p; }
static void* ba(void* p) {
  lock(&b);
  if (pthread_mutex_trylock(&a) == 0) count++, unlock(&a);
  unlock(&b);
  return p;
}
int main(void) { return run(ab), run(ba), 0; }
C
program readers <<'C'
#include "lock_order.h"
static pthread_rwlock_t r = PTHREAD_RWLOCK_INITIALIZER, s = PTHREAD_RWLOCK_INITIALIZER;
static void nest(pthread_rwlock_t* x, pthread_rwlock_t* y) {
  pthread_rwlock_rdlock(x), pthread_rwlock_rdlock(y), pthread_rwlock_unlock(y), pthread_rwlock_unlock(x);
}
static void* rs(void* p) { return nest(&r, &s), p; }
static void* sr(void* p) { return nest(&s, &r), p; }
int main(void) { return run(rs), run(sr), 0; }
C
program recursive <<'C'
#include "lock_order.h"
static pthread_mutex_t r = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static void* again(void* p) { return lock(&r), nested(&a, &r), unlock(&r), p; }
static void* other(void* p) { return nested(&r, &a), p; }
int main(void) { return run(again), run(other), 0; }
C
program reused <<'C'
#include "lock_order.h"
static pthread_mutex_t* block;
static void* before(void* p) { return nested(&a, block), p; }
static void* after(void* p) { return nested(block, &a), p; }
int main(void) {
  block = malloc(sizeof *block), pthread_mutex_init(block, NULL);
  run(before);
  pthread_mutex_destroy(block), free(block);
  block = malloc(sizeof *block), pthread_mutex_init(block, NULL);
  run(after);
  return 0;
}
C
for name in one_order gated one_thread tries readers recursive reused; do clean $name; done

# --- by an option, and by suppressions
clean two --hazards none
echo 'deadlock:^ba$' >known
clean two --suppressions known
echo 'race:^ba$' >known
has two "lock-order inversion: " --suppressions known
timeout 60 "$weir" check --format json -- ./two >out 2>err
grep -q '"kind": "lock-order inversion"' err && grep -q '"rule": "lock-order-inversion"' err || fail "JSON: $(cat err)"
timeout 60 "$weir" check --hazards nothing -- ./two >out 2>err
[ $? = 125 ] || fail "a hazard that there is not: $(cat err)"

# --- objects of synchronization against their beginning and end. Of each pair the first is wrong.
lifetime="use against begin or end"

pair "$lifetime" mutex_after_word <<'C'
#include "lifetime.h"
static void* work(void* p) {
  if (WRONG) sem_post(&done);
  pthread_mutex_lock(&m), count++, pthread_mutex_unlock(&m);
  if (!WRONG) sem_post(&done);
  return p;
}
int main(void) {
  sem_init(&done, 0, 0);
  const pthread_t thread = begin(work);
  sem_wait(&done);
  if (WRONG) usleep(20000);
  return pthread_mutex_destroy(&m), pthread_join(thread, NULL), 0;
}
C
pair "$lifetime" mutex_before_use <<'C'
#include "lifetime.h"
static void* work(void* p) { return usleep(20000), pthread_mutex_lock(&m), pthread_mutex_unlock(&m), p; }
int main(void) {
  pthread_t thread;
  if (WRONG) thread = begin(work);
  pthread_mutex_init(&m, NULL);
  if (!WRONG) thread = begin(work);
  return pthread_join(thread, NULL), 0;
}
C
pair "$lifetime" signal_after_unlock <<'C'
#include "lifetime.h"
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;
static void* work(void* p) {
  pthread_mutex_lock(&m);
  ready = 1;
  if (!WRONG) pthread_cond_signal(&condition);
  pthread_mutex_unlock(&m);
  if (WRONG) usleep(1000), pthread_cond_signal(&condition);
  return p;
}
int main(void) {
  const pthread_t thread = begin(work);
  usleep(WRONG ? 20000 : 0);
  pthread_mutex_lock(&m);
  while (!ready) pthread_cond_wait(&condition, &m);
  pthread_mutex_unlock(&m);
  return pthread_cond_destroy(&condition), pthread_join(thread, NULL), 0;
}
C
pair "$lifetime" barrier <<'C'
#include "lifetime.h"
static pthread_barrier_t barrier;
static void* work(void* p) { return pthread_barrier_wait(&barrier), p; }
int main(void) {
  pthread_barrier_init(&barrier, NULL, WRONG ? 1 : 2);
  const pthread_t thread = begin(work);
  if (WRONG) usleep(20000);
  else pthread_barrier_wait(&barrier);
  return pthread_barrier_destroy(&barrier), pthread_join(thread, NULL), 0;
}
C
pair "$lifetime" semaphore <<'C'
#include "lifetime.h"
static void* work(void* p) { return sem_post(&done), p; }
int main(void) {
  sem_init(&done, 0, 0);
  const pthread_t thread = begin(work);
  if (WRONG) usleep(20000);
  else sem_wait(&done);
  return sem_destroy(&done), pthread_join(thread, NULL), 0;
}
C
pair "$lifetime" begun_twice <<'C'
#include "lifetime.h"
static pthread_rwlock_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make(void) { pthread_rwlock_init(&lock, NULL); }
static void* work(void* p) { return WRONG ? make() : (void)pthread_once(&once, make), p; }
int main(void) {
  const pthread_t one = begin(work), two = begin(work);
  return pthread_join(one, NULL), pthread_join(two, NULL), 0;
}
C
pair "$lifetime" detached <<'C'
#include "lifetime.h"
static pthread_spinlock_t lock;
static void* work(void* p) {
  pthread_spin_lock(&lock), pthread_spin_unlock(&lock);
  if (!WRONG) sem_post(&done);
  return p;
}
int main(void) {
  sem_init(&done, 0, 0), pthread_spin_init(&lock, 0);
  pthread_detach(begin(work));
  if (WRONG) usleep(20000);
  else sem_wait(&done);
  return pthread_spin_destroy(&lock), 0;
}
C
pair "$lifetime" c11 <<'C'
#include "lifetime.h"
#include <threads.h>
static mtx_t mutex;
static void* work(void* p) { return mtx_lock(&mutex), mtx_unlock(&mutex), p; }
int main(void) {
  mtx_init(&mutex, mtx_plain);
  const pthread_t thread = begin(work);
  if (WRONG) usleep(20000);
  else pthread_join(thread, NULL);
  mtx_destroy(&mutex);
  return WRONG ? pthread_join(thread, NULL) : 0;
}
C

# Right in other ways: the last one of several ends it; on the stack of one that waits for all; memory used again
# without an end; one that is made again; what still waits when the program ends.
program last_user <<'C'
#include "lifetime.h"
struct shared { pthread_mutex_t lock; int users; };
static void* work(void* p) {
  struct shared* shared = p;
  for (int i = 0; i < 50; i++) pthread_mutex_lock(&shared->lock), count++, pthread_mutex_unlock(&shared->lock);
  pthread_mutex_lock(&shared->lock);
  const int left = --shared->users;
  pthread_mutex_unlock(&shared->lock);
  if (!left) pthread_mutex_destroy(&shared->lock), free(shared);
  return NULL;
}
int main(void) {
  for (int round = 0; round < 5; round++) {
    struct shared* shared = malloc(sizeof *shared);
    pthread_mutex_init(&shared->lock, NULL), shared->users = 3;
    pthread_t thread[3];
    for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, shared);
    for (int i = 0; i < 3; i++) pthread_join(thread[i], NULL);
  }
  return 0;
}
C
program on_a_stack <<'C'
#include "lifetime.h"
struct call { pthread_mutex_t lock; pthread_cond_t done; int left; };
static void* work(void* p) {
  struct call* call = p;
  pthread_mutex_lock(&call->lock);
  if (--call->left == 0) pthread_cond_signal(&call->done);
  pthread_mutex_unlock(&call->lock);
  return NULL;
}
static void __attribute__((noinline)) for_all(void) {
  struct call call = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 3};
  pthread_t thread[3];
  for (int i = 0; i < 3; i++) pthread_create(&thread[i], NULL, work, &call), pthread_detach(thread[i]);
  pthread_mutex_lock(&call.lock);
  while (call.left) pthread_cond_wait(&call.done, &call.lock);
  pthread_mutex_unlock(&call.lock);
  pthread_cond_destroy(&call.done), pthread_mutex_destroy(&call.lock);
}
int main(void) { for (int i = 0; i < 10; i++) for_all(); return 0; }
C
program used_again <<'C'
#include "lifetime.h"
#include <sys/mman.h>
static void* work(void* p) {
  pthread_mutex_t* lock = p;
  pthread_mutex_init(lock, NULL), pthread_mutex_lock(lock), pthread_mutex_unlock(lock);
  return sem_post(&done), NULL;
}
int main(void) {
  sem_init(&done, 0, 0);
  for (int i = 0; i < 10; i++) {
    const int maps = i % 2;
    void* place = maps ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(64);
    pthread_t thread;
    pthread_create(&thread, NULL, work, place), pthread_detach(thread);
    sem_wait(&done);
    maps ? munmap(place, 4096) : free(place);
  }
  return 0;
}
C
program made_again <<'C'
#include "lifetime.h"
static void* work(void* p) { return pthread_mutex_lock(&m), pthread_mutex_unlock(&m), p; }
int main(void) {
  for (int i = 0; i < 5; i++) pthread_mutex_init(&m, NULL), run(work), pthread_mutex_destroy(&m);
  return 0;
}
C
cat >at_exit.cc <<'C'
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>
struct Pool {
  std::mutex mutex;
  std::condition_variable work, idle;
  int jobs = 0;
  bool ends = false;
  std::thread thread{[this] {
    std::unique_lock<std::mutex> lock(mutex);
    while (!ends) {
      while (!jobs && !ends) work.wait(lock);
      jobs = 0;
      idle.notify_all();
    }
  }};
  void run() {
    std::unique_lock<std::mutex> lock(mutex);
    jobs = 1;
    work.notify_one();
    while (jobs) idle.wait(lock);
  }
  ~Pool() {
    { std::lock_guard<std::mutex> lock(mutex); ends = true; work.notify_all(); }
    thread.join();
  }
};
static std::mutex g_mutex;
static std::condition_variable g_never;
int main() {
  for (int i = 0; i < 5; i++) { Pool pool; pool.run(); }
  std::thread([] { std::unique_lock<std::mutex> lock(g_mutex); g_never.wait(lock); }).detach();
  usleep(20000);
}
C
g++ -g -O1 at_exit.cc -o at_exit -pthread || failed=$((failed + 1))
for name in last_user on_a_stack used_again made_again at_exit; do clean $name; done

clean semaphore.wrong --hazards lock-order
echo 'mutex:^done$' >known
clean semaphore.wrong --suppressions known
timeout 60 "$weir" check --format sarif -- ./semaphore.wrong >out 2>err
grep -q '"ruleId": "lifetime"' err || fail "SARIF: $(cat err)"

exit $((failed != 0))
