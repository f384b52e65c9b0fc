// What can happen inside a section of two nested mutexes: waits with another mutex held, timed
// waits, signals that interrupt the wait, cancellation with a handler that unlocks, the end of the
// thread in it, a key's destructor that locks, waits and creates.
#include "program.h"

enum { kRounds = 30 };

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER, inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, never = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static long steps, destroyed, made, unlocked, sum;
static int waiting;

static void on_signal(int signal) { (void)signal; }

static void* last(void* unused) {
  CHECK_EQ(pthread_mutex_lock(&gate), 0);
  ++made;
  CHECK_EQ(pthread_mutex_unlock(&gate), 0);
  return unused;
}

static void destroy(void* unused) {
  (void)unused;
  pthread_t id;
  CHECK_EQ(pthread_mutex_lock(&gate), 0);
  ++destroyed;
  const struct timespec soon = time_in(CLOCK_REALTIME, 1);
  CHECK_EQ(pthread_cond_timedwait(&never, &gate, &soon), ETIMEDOUT);
  CHECK_EQ(pthread_mutex_unlock(&gate), 0);
  CHECK_EQ(pthread_create(&id, NULL, last, NULL), 0);
  CHECK_EQ(pthread_join(id, NULL), 0);
}

// Turns of the threads are told by `steps`; the mutex `gate` is held outside of the wait by nobody.
static void* worker(void* number) {
  CHECK_EQ(pthread_setspecific(key, &key), 0);
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(pthread_mutex_lock(&inner), 0);
    CHECK_EQ(pthread_mutex_lock(&outer), 0);
    long work = 0;
    for (int k = 0; k < (round % 10 ? 100 : 300000); ++k) work += k % 7;
    sum += work % 1000;
    CHECK_EQ(pthread_mutex_unlock(&inner), 0);
    const struct timespec soon = time_in(CLOCK_REALTIME, 20);
    if (steps % 4 != (long)number) pthread_cond_timedwait(&changed, &outer, &soon);
    ++steps;
    CHECK_EQ(pthread_cond_broadcast(&changed), 0);
    CHECK_EQ(pthread_mutex_unlock(&outer), 0);
    CHECK_EQ(pthread_mutex_lock(&gate), 0);  // a wait for nothing with another mutex held
    CHECK_EQ(pthread_mutex_lock(&inner), 0);
    const struct timespec at_once = {0, 1};
    CHECK_EQ(pthread_cond_timedwait(&never, &inner, &at_once), ETIMEDOUT);
    CHECK_EQ(pthread_mutex_unlock(&inner), 0);
    CHECK_EQ(pthread_mutex_unlock(&gate), 0);
  }
  CHECK_EQ(pthread_mutex_lock(&outer), 0);
  ++steps;
  CHECK_EQ(pthread_cond_broadcast(&changed), 0);
  CHECK_EQ(pthread_mutex_unlock(&outer), 0);
  return NULL;
}

static void unlock(void* mutex) {
  ++unlocked;
  CHECK_EQ(pthread_mutex_unlock((pthread_mutex_t*)mutex), 0);
}

static void* cancelled(void* unused) {
  CHECK_EQ(pthread_mutex_lock(&outer), 0);
  pthread_cleanup_push(unlock, &outer);
  ++waiting;
  for (;;) pthread_cond_wait(&never, &outer);
  pthread_cleanup_pop(0);
  return unused;
}

static void* joins(void* id) {
  CHECK_EQ(pthread_mutex_lock(&gate), 0);
  pthread_cleanup_push(unlock, &gate);
  pthread_join(*(pthread_t*)id, NULL);
  pthread_cleanup_pop(1);
  return NULL;
}

static void* leaves(void* mutex) {
  CHECK_EQ(pthread_mutex_lock((pthread_mutex_t*)mutex), 0);
  pthread_exit(mutex);
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads], waits, joiner, leaver;
  pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER;
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pthread_key_create(&key, destroy), 0);
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, worker, (void*)i), 0);
  CHECK_EQ(pthread_create(&waits, NULL, cancelled, NULL), 0);
  for (int there = 0; !there; sched_yield()) {
    CHECK_EQ(pthread_mutex_lock(&outer), 0);
    there = waiting;
    CHECK_EQ(pthread_mutex_unlock(&outer), 0);
  }
  for (int k = 0; k < 5; ++k) CHECK_EQ(pthread_kill(waits, SIGUSR1), 0);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK_EQ(pthread_create(&joiner, NULL, joins, &waits), 0);
  sched_yield();
  CHECK_EQ(pthread_cancel(joiner), 0);
  CHECK_EQ(pthread_join(joiner, NULL), 0);
  CHECK_EQ(pthread_cancel(waits), 0);
  CHECK_EQ(pthread_join(waits, NULL), 0);
  CHECK_EQ(pthread_create(&leaver, NULL, leaves, &left), 0);
  CHECK_EQ(pthread_join(leaver, NULL), 0);
  CHECK_EQ(pthread_mutex_trylock(&left), EBUSY);
  CHECK_EQ(pthread_mutex_trylock(&outer), 0);
  CHECK_EQ(pthread_mutex_trylock(&inner), 0);
  CHECK_EQ(pthread_mutex_trylock(&gate), 0);
  printf("steps %ld sum %ld destroyed %ld made %ld\n", steps, sum, destroyed, made);
  return 0;
}
