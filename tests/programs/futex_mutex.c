// A mutex and a one-shot event made of raw futex calls exclude, wake, time out and answer as the
// kernel does.
#include <linux/futex.h>
#include "program.h"

enum { kRounds = 60 };
static int lock_word, event_word, requeue_word;  // 0 free, 1 held, 2 held and waited for.
static long total;

static long futex(int* word, int operation, int value, const struct timespec* timeout) {
  return syscall(SYS_futex, word, operation, value, timeout, NULL, 0);
}

static void lock(void) {
  int old = 0;
  if (__atomic_compare_exchange_n(&lock_word, &old, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    return;
  while (__atomic_exchange_n(&lock_word, 2, __ATOMIC_ACQUIRE) != 0)
    futex(&lock_word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void unlock(void) {
  if (__atomic_exchange_n(&lock_word, 0, __ATOMIC_RELEASE) == 2)
    futex(&lock_word, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static void* body(void* unused) {
  while (__atomic_load_n(&event_word, __ATOMIC_ACQUIRE) == 0)
    futex(&event_word, FUTEX_WAIT, 0, NULL);
  for (int i = 0; i < kRounds; ++i) {
    lock();
    ++total;
    unlock();
  }
  return unused;
}

static void* waits(void* unused) {
  while (__atomic_load_n(&requeue_word, __ATOMIC_ACQUIRE) == 0) {
    syscall(SYS_futex, &requeue_word, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL,
            FUTEX_BITSET_MATCH_ANY);
  }
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads], waiter;
  struct timespec little = {0, 10000000};
  CHECK(futex(&event_word, FUTEX_WAIT_PRIVATE, 1, NULL) == -1 && errno == EAGAIN);
  CHECK(futex(&event_word, FUTEX_WAIT_PRIVATE, 0, &little) == -1 && errno == ETIMEDOUT);
  CHECK_EQ(futex(&event_word, FUTEX_WAKE, 100, NULL), 0);
  CHECK(syscall(SYS_futex, &event_word, 77, 0, NULL, NULL, 0) == -1 && errno == ENOSYS);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, NULL), 0);
  __atomic_store_n(&event_word, 1, __ATOMIC_RELEASE);
  long woken = futex(&event_word, FUTEX_WAKE, INT_MAX, NULL);
  CHECK(woken >= 0 && woken <= threads);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK_EQ(total, threads * kRounds);

  CHECK_EQ(pthread_create(&waiter, NULL, waits, NULL), 0);
  int target = 0;
  while (syscall(SYS_futex, &requeue_word, FUTEX_CMP_REQUEUE_PRIVATE, 0, (void*)1, &target, 0) == 0)
    sched_yield();
  __atomic_store_n(&requeue_word, 1, __ATOMIC_RELEASE);
  CHECK_EQ(futex(&requeue_word, FUTEX_WAKE_PRIVATE, 1, NULL), 0);  // It sleeps on `target` now.
  CHECK_EQ(futex(&target, FUTEX_WAKE_PRIVATE, 1, NULL), 1);
  CHECK_EQ(pthread_join(waiter, NULL), 0);
  printf("total %ld\n", total);
  return 0;
}
