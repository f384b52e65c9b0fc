// The order in which threads win a contended mutex, which natively depends on timing, is printed.
#include "program.h"

enum { kRounds = 100 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t order = 0xcbf29ce484222325u;
static int last = -1, changes;

static void* body(void* number) {
  for (int i = 0; i < kRounds; ++i) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    order = (order ^ (uint64_t)(long)number) * 0x100000001b3u;
    changes += last != (int)(long)number;
    last = (int)(long)number;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    if (i % 8 == (int)(long)number % 8) sched_yield();
  }
  return NULL;
}

int main(int argc, char** argv) {
  run_threads(argument(argc, argv, 1, 4), body);
  printf("order %016llx changes %d\n", (unsigned long long)order, changes);
  return 0;
}
