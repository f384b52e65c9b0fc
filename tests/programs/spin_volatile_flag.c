// Threads spin on plain volatile flags, with nothing in the loop, and see what was written before
// the flag was set.
#include "program.h"

static volatile int flags[kMaxThreads + 1];
static volatile int
    data[kMaxThreads + 1];  // volatile too: else the compiler may set the flag first, as gcc does

static void* body(void* number) {
  long me = (long)number;
  while (!flags[me]) {}
  data[me + 1] = data[me] + 1;
  flags[me + 1] = 1;
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads];
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, (void*)i), 0);
  data[0] = 100;
  flags[0] = 1;
  while (!flags[threads]) {}
  CHECK_EQ(data[threads], 100 + threads);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  printf("passed on %d\n", data[threads]);
  return 0;
}
