// Threads that only try the lock make progress together, and an owner is never overtaken.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;
static int inside;

static void* body(void* unused) {
  for (int done = 0; done < 50;) {
    int code = pthread_mutex_trylock(&lock);
    if (code == EBUSY) {
      sched_yield();
      continue;
    }
    CHECK_EQ(code, 0);
    CHECK_EQ(++inside, 1);
    ++total;
    --inside;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    ++done;
  }
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 50L);
  printf("total %ld\n", total);
  return 0;
}
