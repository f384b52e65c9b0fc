// The C11 thread library: threads, mutexes of each type, conditions, once, thread-specific storage
// and their codes.
#include <threads.h>
#include "program.h"

static mtx_t plain, timed, nested;
static cnd_t changed;
static tss_t slot;
static once_flag flag = ONCE_FLAG_INIT;
static _Thread_local int own = 5;
static int total, once_runs, destroyed, ready;

static void count_once(void) { ++once_runs; }
static void destroy(void* value) { destroyed += *(int*)value; }

static int body(void* argument) {
  static int one = 1;
  CHECK_EQ(own, 5);
  own = (int)(long)argument;
  call_once(&flag, count_once);
  CHECK_EQ(tss_set(slot, &one), thrd_success);
  for (int i = 0; i < 50; ++i) {
    CHECK_EQ(mtx_lock(&nested), thrd_success);
    CHECK_EQ(mtx_trylock(&nested), thrd_success);
    ++total;
    CHECK_EQ(mtx_unlock(&nested), thrd_success);
    CHECK_EQ(mtx_unlock(&nested), thrd_success);
  }
  struct timespec soon = time_in(CLOCK_REALTIME, 10);
  CHECK_EQ(mtx_timedlock(&timed, &soon), thrd_timedout);
  CHECK_EQ(mtx_lock(&plain), thrd_success);
  while (!ready) CHECK_EQ(cnd_wait(&changed, &plain), thrd_success);
  CHECK_EQ(mtx_unlock(&plain), thrd_success);
  CHECK_EQ(own, (int)(long)argument);
  thrd_exit(own + 10);
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), result = 0;
  thrd_t ids[kMaxThreads];
  CHECK_EQ(mtx_init(&plain, mtx_plain), thrd_success);
  CHECK_EQ(mtx_init(&timed, mtx_timed), thrd_success);
  CHECK_EQ(mtx_init(&nested, mtx_plain | mtx_recursive), thrd_success);
  CHECK_EQ(cnd_init(&changed), thrd_success);
  CHECK_EQ(tss_create(&slot, destroy), thrd_success);
  CHECK_EQ(mtx_lock(&timed), thrd_success);
  for (long i = 0; i < threads; ++i) CHECK_EQ(thrd_create(&ids[i], body, (void*)i), thrd_success);
  CHECK_EQ(mtx_lock(&plain), thrd_success);
  struct timespec soon = time_in(CLOCK_REALTIME, 10);
  CHECK_EQ(cnd_timedwait(&changed, &plain, &soon), thrd_timedout);
  ready = 1;
  CHECK_EQ(cnd_broadcast(&changed), thrd_success);
  CHECK_EQ(mtx_unlock(&plain), thrd_success);
  for (int i = 0; i < threads; ++i) {
    CHECK_EQ(thrd_join(ids[i], &result), thrd_success);
    CHECK_EQ(result, i + 10);
  }
  CHECK_EQ(once_runs, 1);
  CHECK(total == threads * 50 && destroyed > 0 && destroyed <= threads);
  CHECK(thrd_equal(thrd_current(), thrd_current()));
  printf("total %d\n", total);
  return 0;
}
