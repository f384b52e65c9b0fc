// Threads that read the clock in a loop are cancelled asynchronously, many of them inside the vDSO:
// its frame is unwound like any other, and cleanup handlers run.
#include "../programs/program.h"

enum { kRounds = 60 };

static int begun, cleaned;

static void clean(void* unused) { (void)unused, __atomic_fetch_add(&cleaned, 1, __ATOMIC_SEQ_CST); }

static void* read_clocks(void* unused) {
  struct timespec time;
  (void)unused;
  CHECK_EQ(pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL), 0);
  pthread_cleanup_push(clean, NULL);
  __atomic_fetch_add(&begun, 1, __ATOMIC_SEQ_CST);
  for (;;) {
    for (int i = 0; i < 200; i++) clock_gettime(CLOCK_MONOTONIC, &time);
    sched_yield();  // an event, at which others may go on
  }
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  for (int i = 1; i <= kRounds; i++) {
    pthread_t thread;
    void* result;
    CHECK_EQ(pthread_create(&thread, NULL, read_clocks, NULL), 0);
    while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) != i) sched_yield();
    CHECK_EQ(pthread_cancel(thread), 0);
    CHECK_EQ(pthread_join(thread, &result), 0);
    CHECK(result == PTHREAD_CANCELED);
    CHECK_EQ(__atomic_load_n(&cleaned, __ATOMIC_SEQ_CST), i);
  }
  puts("all threads were unwound");
  return 0;
}
