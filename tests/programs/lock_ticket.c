// A ticket lock serves threads in the order of their tickets; the order of service is printed.
#include "program.h"

enum { kRounds = 60 };
static unsigned next_ticket, serving;
static long total;
static uint64_t order = 0xcbf29ce484222325u;

static void* body(void* number) {
  for (int i = 0; i < kRounds; ++i) {
    unsigned mine = __atomic_fetch_add(&next_ticket, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&serving, __ATOMIC_ACQUIRE) != mine) sched_yield();
    CHECK_EQ(total, mine);
    ++total;
    order = (order ^ (uint64_t)(long)number) * 0x100000001b3u;
    __atomic_store_n(&serving, mine + 1, __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  CHECK_EQ(total, threads * kRounds);
  printf("total %ld order %016llx\n", total, (unsigned long long)order);
  return 0;
}
