// Process-shared barriers, semaphores and read-write locks, and plain atomics, join forked
// processes and their threads.
#include "program.h"

enum { kRounds = 20, kProcesses = 3 };
static struct Shared {
  pthread_barrier_t barrier;
  sem_t semaphore;
  pthread_rwlock_t lock;
  long guarded, locked, counted;
} * shared;

static void* adds(void* unused) {
  for (int i = 0; i < kRounds; ++i) {
    CHECK_EQ(sem_wait(&shared->semaphore), 0);
    ++shared->guarded;
    CHECK_EQ(sem_post(&shared->semaphore), 0);
    CHECK_EQ(pthread_rwlock_wrlock(&shared->lock), 0);
    ++shared->locked;
    CHECK_EQ(pthread_rwlock_unlock(&shared->lock), 0);
    __atomic_fetch_add(&shared->counted, 1, __ATOMIC_RELAXED);
  }
  return unused;
}

static void process(void) {
  run_threads(2, adds);
  int result = pthread_barrier_wait(&shared->barrier);
  CHECK(result == 0 || result == PTHREAD_BARRIER_SERIAL_THREAD);
  CHECK_EQ(shared->guarded, kProcesses * 2 * kRounds);
  CHECK_EQ(shared->locked, kProcesses * 2 * kRounds);
  CHECK_EQ(shared->counted, kProcesses * 2 * kRounds);
}

int main(void) {
  pthread_barrierattr_t barrier_attributes;
  pthread_rwlockattr_t lock_attributes;
  shared = (struct Shared*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  CHECK_EQ(pthread_barrierattr_init(&barrier_attributes), 0);
  CHECK_EQ(pthread_barrierattr_setpshared(&barrier_attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_barrier_init(&shared->barrier, &barrier_attributes, kProcesses), 0);
  CHECK_EQ(pthread_rwlockattr_init(&lock_attributes), 0);
  CHECK_EQ(pthread_rwlockattr_setpshared(&lock_attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(
      pthread_rwlockattr_setkind_np(&lock_attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP),
      0);
  CHECK_EQ(pthread_rwlock_init(&shared->lock, &lock_attributes), 0);
  CHECK_EQ(sem_init(&shared->semaphore, 1, 1), 0);
  for (int i = 1; i < kProcesses; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) continue;
    process();
    _exit(0);
  }
  process();
  for (int i = 1, status; i < kProcesses; ++i) {
    CHECK(wait(&status) > 0);
    CHECK_EQ(status, 0);
  }
  printf("guarded %ld\n", shared->guarded);
  return 0;
}
