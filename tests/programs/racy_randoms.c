// rand shares its hidden state among all threads, so which thread draws which number is natively a
// matter of luck.
#include "program.h"

static long sums[kMaxThreads];

static void* body(void* number) {
  for (int i = 0; i < 100; ++i) {
    sums[(long)number] = sums[(long)number] * 3 + rand() % 1000;
    if (i % 10 == 0) sched_yield();
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  uint64_t mixed = 0xcbf29ce484222325u;
  srand(12345);
  run_threads(threads, body);
  for (int i = 0; i < threads; ++i) mixed = (mixed ^ (uint64_t)sums[i]) * 0x100000001b3u;
  printf("next %d mixed %016llx\n", rand(), (unsigned long long)mixed);
  return 0;
}
