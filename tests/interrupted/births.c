// Threads come and go. With one that has set its own processors Weir makes each of them anew.
#include "../programs/program.h"

#include <sched.h>

enum { kThreads = 4 };

static void* body(void* argument) {
  volatile long sum = 0;
  for (int i = 0; i < 1000; i++) sum += i;
  return argument;
}

int main(int count, char** words) {
  cpu_set_t processors;
  CHECK(sched_getaffinity(0, sizeof processors, &processors) == 0);
  CHECK(sched_setaffinity(0, sizeof processors, &processors) == 0);
  const long rounds = count > 1 ? atol(words[1]) : 100;
  for (long round = 0; round < rounds; round++) {
    pthread_t threads[kThreads];
    for (long i = 0; i < kThreads; i++)
      CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)(round + i)), 0);
    for (long i = 0; i < kThreads; i++) {
      void* result;
      CHECK_EQ(pthread_join(threads[i], &result), 0);
      CHECK(result == (void*)(round + i));
    }
  }
  puts("all threads came and went");
  return 0;
}
