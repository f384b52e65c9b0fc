// Where the owner of a robust mutex ends, the next locker gets EOWNERDEAD; unlocked without repair
// it is unusable. Where waits inherit priorities it is the same.
#include "program.h"

static pthread_mutex_t locks[3];

static void* dies_with(void* lock) {
  CHECK_EQ(pthread_mutex_lock((pthread_mutex_t*)lock), 0);
  return NULL;
}

static void* waits_for(void* lock) {
  CHECK_EQ(pthread_mutex_lock((pthread_mutex_t*)lock), EOWNERDEAD);
  CHECK_EQ(pthread_mutex_consistent((pthread_mutex_t*)lock), 0);
  CHECK_EQ(pthread_mutex_unlock((pthread_mutex_t*)lock), 0);
  return NULL;
}

static void* dies_slowly(void* lock) {
  CHECK_EQ(pthread_mutex_lock((pthread_mutex_t*)lock), 0);
  pthread_t waiter;
  CHECK_EQ(pthread_create(&waiter, NULL, waits_for, lock), 0);
  sleep_ms(10);
  pthread_exit((void*)waiter);
}

static void play(int protocol) {
  pthread_mutexattr_t attributes;
  pthread_t thread;
  void* waiter = NULL;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  CHECK_EQ(pthread_mutexattr_setprotocol(&attributes, protocol), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_mutex_init(&locks[i], &attributes), 0);
  for (int i = 0; i < 2; ++i) {
    CHECK_EQ(pthread_create(&thread, NULL, dies_with, &locks[i]), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
  }
  CHECK_EQ(pthread_mutex_trylock(&locks[0]), EOWNERDEAD);
  CHECK_EQ(pthread_mutex_consistent(&locks[0]), 0);
  CHECK_EQ(pthread_mutex_unlock(&locks[0]), 0);
  CHECK_EQ(pthread_mutex_lock(&locks[0]), 0);
  CHECK_EQ(pthread_mutex_consistent(&locks[0]), EINVAL);
  CHECK_EQ(pthread_mutex_unlock(&locks[0]), 0);

  CHECK_EQ(pthread_mutex_lock(&locks[1]), EOWNERDEAD);
  CHECK_EQ(pthread_mutex_unlock(&locks[1]), 0);
  CHECK_EQ(pthread_mutex_lock(&locks[1]), ENOTRECOVERABLE);

  CHECK_EQ(pthread_create(&thread, NULL, dies_slowly, &locks[2]), 0);
  CHECK_EQ(pthread_join(thread, &waiter), 0);
  CHECK_EQ(pthread_join((pthread_t)waiter, NULL), 0);
  CHECK_EQ(pthread_mutex_lock(&locks[2]), 0);
  CHECK_EQ(pthread_mutex_unlock(&locks[2]), 0);
}

int main(void) {
  play(PTHREAD_PRIO_NONE);
  play(PTHREAD_PRIO_INHERIT);
  puts("owner deaths told");
  return 0;
}
