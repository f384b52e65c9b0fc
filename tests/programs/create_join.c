// Threads start with their argument, see main's writes, create threads of their own, and join hands
// their value back.
#include "program.h"

static long seen;

static void* grandchild(void* argument) { return (void*)((long)argument * 2); }

static void* child(void* argument) {
  pthread_t inner;
  void* value = NULL;
  CHECK_EQ(seen, 42);
  CHECK_EQ(pthread_create(&inner, NULL, grandchild, argument), 0);
  CHECK_EQ(pthread_join(inner, &value), 0);
  return (void*)((long)value + 1);
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads];
  long sum = 0;
  seen = 42;
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, child, (void*)i), 0);
  for (long i = 0; i < threads; ++i) {
    void* value = NULL;
    CHECK_EQ(pthread_join(ids[i], &value), 0);
    CHECK_EQ((long)value, 2 * i + 1);
    sum += (long)value;
  }
  printf("sum %ld\n", sum);
  return 0;
}
