// Threads recurse through megabytes of their stacks, default and large, each frame keeping its
// contents.
#include "program.h"

static __attribute__((noinline)) long descend(int depth, long seed) {
  volatile long frame[128];
  for (int i = 0; i < 128; i += 16) frame[i] = seed + depth * i;
  long below = depth > 0 ? descend(depth - 1, seed) : 0;
  for (int i = 0; i < 128; i += 16) CHECK_EQ(frame[i], seed + depth * i);
  return below + frame[16] - seed;
}

static void* body(void* number) {
  CHECK_EQ(descend(4000, (long)number), 16L * 4000 * 4001 / 2);
  return NULL;
}

static void* large(void* number) {
  CHECK_EQ(descend(24000, (long)number), 16L * 24000 * 24001 / 2);
  return NULL;
}

int main(int argc, char** argv) {
  pthread_attr_t attributes;
  pthread_t thread;
  run_threads(argument(argc, argv, 1, 4), body);
  CHECK_EQ(pthread_attr_init(&attributes), 0);
  CHECK_EQ(pthread_attr_setstacksize(&attributes, 40 << 20), 0);
  CHECK_EQ(pthread_create(&thread, &attributes, large, (void*)3), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("came back up");
  return 0;
}
