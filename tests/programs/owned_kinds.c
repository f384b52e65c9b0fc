// A lock that one task has used alone for long answers as any other: to its owner, and to the first
// task that comes.
#include "program.h"

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int stage;
static long value;

static void reach(int next) {
  pthread_mutex_lock(&gate);
  stage = next;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&gate);
}

static void await(int wanted) {
  pthread_mutex_lock(&gate);
  while (stage < wanted) pthread_cond_wait(&changed, &gate);
  pthread_mutex_unlock(&gate);
}

static void many(pthread_mutex_t* lock) {
  for (int i = 0; i < 200; ++i) {
    CHECK_EQ(pthread_mutex_lock(lock), 0);
    value++;
    CHECK_EQ(pthread_mutex_unlock(lock), 0);
    CHECK_EQ(pthread_mutex_trylock(lock), 0);
    CHECK_EQ(pthread_mutex_unlock(lock), 0);
  }
}

static void refuses_others(pthread_mutex_t* lock) {
  struct timespec soon = time_in(CLOCK_REALTIME, 5);
  CHECK_EQ(pthread_mutex_trylock(lock), EBUSY);
  CHECK_EQ(pthread_mutex_timedlock(lock, &soon), ETIMEDOUT);
}

static void* owner(void* unused) {
  many(&plain);
  many(&recursive);
  many(&checking);
  struct timespec later = time_in(CLOCK_REALTIME, 60000);
  CHECK_EQ(pthread_mutex_timedlock(&plain, &later), 0);
  CHECK_EQ(pthread_mutex_trylock(&plain), EBUSY);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_mutex_lock(&recursive), 0);
  CHECK_EQ(pthread_mutex_trylock(&recursive), 0);
  CHECK_EQ(pthread_mutex_lock(&checking), 0);
  CHECK_EQ(pthread_mutex_lock(&checking), EDEADLK);
  CHECK_EQ(pthread_mutex_trylock(&checking), EBUSY);
  reach(1);
  await(2);
  CHECK_EQ(pthread_mutex_unlock(&plain), 0);
  for (int i = 0; i < 4; ++i) CHECK_EQ(pthread_mutex_unlock(&recursive), 0);
  CHECK_EQ(pthread_mutex_unlock(&checking), 0);
  CHECK_EQ(pthread_mutex_unlock(&checking), EPERM);
  CHECK_EQ(pthread_mutex_unlock(&recursive), EPERM);
  reach(3);
  await(4);  // the other has used them; again for long, alone
  many(&plain);
  many(&recursive);
  CHECK_EQ(value, 200 * 5);
  pthread_mutex_lock(&plain);
  reach(5);
  while (stage != 6)
    pthread_cond_wait(&changed,
                      &plain);  // a wait that lets an owned lock go (`stage` changes under both)
  pthread_mutex_unlock(&plain);
  return unused;
}

static void* other(void* unused) {
  await(1);
  refuses_others(&plain);
  refuses_others(&recursive);
  refuses_others(&checking);
  CHECK_EQ(pthread_mutex_unlock(&checking), EPERM);
  reach(2);
  await(3);
  CHECK_EQ(pthread_mutex_lock(&plain), 0);
  CHECK_EQ(pthread_mutex_lock(&recursive), 0);
  CHECK_EQ(pthread_mutex_lock(&checking), 0);
  CHECK_EQ(value, 200 * 3);
  CHECK_EQ(pthread_mutex_unlock(&plain), 0);
  CHECK_EQ(pthread_mutex_unlock(&recursive), 0);
  CHECK_EQ(pthread_mutex_unlock(&checking), 0);
  reach(4);
  await(5);
  CHECK_EQ(pthread_mutex_lock(&plain), 0);
  pthread_mutex_lock(&gate);
  stage = 6;
  pthread_mutex_unlock(&gate);
  CHECK_EQ(pthread_cond_broadcast(&changed), 0);
  CHECK_EQ(pthread_mutex_unlock(&plain), 0);
  return unused;
}

static void kind(pthread_mutex_t* lock, int which) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, which);
  CHECK_EQ(pthread_mutex_init(lock, &attributes), 0);
}

int main(void) {
  pthread_t threads[2];
  kind(&recursive, PTHREAD_MUTEX_RECURSIVE);
  kind(&checking, PTHREAD_MUTEX_ERRORCHECK);
  CHECK_EQ(pthread_create(&threads[0], NULL, owner, NULL), 0);
  CHECK_EQ(pthread_create(&threads[1], NULL, other, NULL), 0);
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("value %ld\n", value);
  return 0;
}
