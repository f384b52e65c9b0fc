// Read-write locks of all three kinds, waited for in all ways, with and without a limit, while
// signals come and holders sleep: who reads never sees half of an update, and all end.
#include "program.h"

enum { kKinds = 3, kMax = 8, kLocks = 250 };
static pthread_rwlock_t locks[kKinds];
static struct { long first, second; } pairs[kKinds];
static pthread_t threads[kMax];
static pthread_barrier_t all;  // not a look at a counter: no order of events decides what that sees
static int count;

static void on_signal(int signal) { (void)signal; }

// Over, or long to come: what the clock says is another thing in each run.
static struct timespec some_time(unsigned* seed) {
  return (struct timespec){.tv_sec = rand_r(seed) % 2 ? 1 : (time_t)1 << 33};
}

static int take(pthread_rwlock_t* lock, int how, unsigned* seed) {
  const struct timespec limit = some_time(seed);
  switch (how) {
    case 0: return pthread_rwlock_wrlock(lock);
    case 1: return pthread_rwlock_timedwrlock(lock, &limit);
    case 2: return pthread_rwlock_timedrdlock(lock, &limit);
    case 3: return pthread_rwlock_tryrdlock(lock);
    default: return pthread_rwlock_rdlock(lock);
  }
}

static void* body(void* number) {
  unsigned seed = (unsigned)(long)number * 77 + 1;
  pthread_barrier_wait(&all);
  for (int i = 0; i < kLocks; ++i) {
    const int kind = rand_r(&seed) % kKinds, how = rand_r(&seed) % 6;
    const int result = take(&locks[kind], how, &seed);
    if (result) {
      CHECK(how > 0 && how < 4 && (result == ETIMEDOUT || result == EBUSY));
      continue;
    }
    if (how < 2) {
      ++pairs[kind].first;
      if (rand_r(&seed) % 8 == 0) usleep(rand_r(&seed) % 30);
      ++pairs[kind].second;
    } else {
      CHECK_EQ(pairs[kind].first, pairs[kind].second);
    }
    CHECK_EQ(pthread_rwlock_unlock(&locks[kind]), 0);
    if (i % 50 == 49) CHECK_EQ(pthread_kill(threads[rand_r(&seed) % count], SIGUSR1), 0);
  }
  pthread_barrier_wait(&all);  // no signal goes to one that is not there
  return NULL;
}

int main(int argc, char** argv) {
  static const int kKind[kKinds] = {PTHREAD_RWLOCK_PREFER_READER_NP,
                                    PTHREAD_RWLOCK_PREFER_WRITER_NP,
                                    PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP};
  count = argument(argc, argv, 1, 4);
  CHECK(count > 0 && count <= kMax);
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  for (int i = 0; i < kKinds; ++i) {
    pthread_rwlockattr_t attributes;
    CHECK_EQ(pthread_rwlockattr_init(&attributes), 0);
    CHECK_EQ(pthread_rwlockattr_setkind_np(&attributes, kKind[i]), 0);
    CHECK_EQ(pthread_rwlock_init(&locks[i], &attributes), 0);
  }
  CHECK_EQ(pthread_barrier_init(&all, NULL, (unsigned)count + 1), 0);
  for (long i = 0; i < count; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  pthread_barrier_wait(&all);
  pthread_barrier_wait(&all);
  for (int i = 0; i < count; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < kKinds; ++i) CHECK_EQ(pairs[i].first, pairs[i].second);
  puts("ok");
  return 0;
}
