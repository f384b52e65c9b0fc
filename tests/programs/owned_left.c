// The task that has used a lock alone sleeps in the kernel, forks, or ends; the others find the
// lock, and what was written under it, as it left them.
#include "program.h"

enum { kTimes = 300 };
static int channel[2];
static struct {
  pthread_mutex_t lock;
  long value;
} reads, forks, ends, keeps;

#define USE(object)                                    \
  for (int i = 0; i < kTimes; ++i) {                   \
    CHECK_EQ(pthread_mutex_lock(&(object).lock), 0);   \
    (object).value++;                                  \
    CHECK_EQ(pthread_mutex_unlock(&(object).lock), 0); \
  }

static void* reader(void* unused) {
  char byte;
  USE(reads);
  CHECK_EQ(read(channel[0], &byte, 1), 1);  // the other writes when it has found the lock free
  CHECK_EQ(pthread_mutex_lock(&reads.lock), 0);
  CHECK_EQ(reads.value, kTimes + 1);
  CHECK_EQ(pthread_mutex_unlock(&reads.lock), 0);
  return unused;
}

static void* forker(void* unused) {
  USE(forks);
  CHECK_EQ(pthread_mutex_lock(&forks.lock), 0);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    CHECK_EQ(forks.value, kTimes);
    CHECK_EQ(pthread_mutex_trylock(&forks.lock), EBUSY);
    CHECK_EQ(pthread_mutex_unlock(&forks.lock), 0);
    USE(forks);
    _exit(forks.value == 2 * kTimes ? 7 : 1);
  }
  int status;
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 7);
  forks.value = -1;
  CHECK_EQ(pthread_mutex_unlock(&forks.lock), 0);
  return unused;
}

static void* ender(void* unused) {
  USE(ends);
  USE(keeps);
  CHECK_EQ(pthread_mutex_lock(&keeps.lock), 0);
  return unused;  // holding it
}

int main(void) {
  pthread_t threads[3], again;
  pthread_mutex_t* locks[] = {&reads.lock, &forks.lock, &ends.lock, &keeps.lock};
  for (int i = 0; i < 4; ++i) CHECK_EQ(pthread_mutex_init(locks[i], NULL), 0);
  CHECK_EQ(pipe(channel), 0);
  CHECK_EQ(pthread_create(&threads[0], NULL, reader, NULL), 0);
  CHECK_EQ(pthread_create(&threads[1], NULL, forker, NULL), 0);
  CHECK_EQ(pthread_create(&threads[2], NULL, ender, NULL), 0);
  for (long value = 0; value < kTimes; sched_yield()) {
    CHECK_EQ(pthread_mutex_lock(&reads.lock), 0);
    value = reads.value;
    if (value == kTimes) reads.value++;
    CHECK_EQ(pthread_mutex_unlock(&reads.lock), 0);
  }
  CHECK_EQ(write(channel[1], "x", 1), 1);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(pthread_mutex_lock(&forks.lock), 0);
  CHECK_EQ(forks.value, -1);
  CHECK_EQ(pthread_mutex_trylock(&keeps.lock), EBUSY);
  CHECK_EQ(keeps.value, kTimes);
  CHECK_EQ(pthread_create(&again, NULL, ender, NULL),
           0);  // in the slot of one that ended: it blocks on keeps
  for (long value = 0; value < 2 * kTimes; sched_yield()) {
    CHECK_EQ(pthread_mutex_lock(&ends.lock), 0);
    value = ends.value;
    CHECK_EQ(pthread_mutex_unlock(&ends.lock), 0);
  }
  CHECK_EQ(pthread_mutex_trylock(&keeps.lock), EBUSY);
  CHECK_EQ(keeps.value, kTimes);
  puts("found as they were left");
  return 0;
}
