// A thread-local array of megabytes starts with zeros and its initial part in every thread, also in
// a reused stack.
#include "program.h"

enum { kSize = 3 << 20 };
static __thread char zeros[kSize];
static __thread int pattern[64] = {7, 8, 9};

static void* body(void* number) {
  CHECK(pattern[0] == 7 && pattern[1] == 8 && pattern[2] == 9 && pattern[63] == 0);
  for (int i = 0; i < kSize; i += 512) CHECK_EQ(zeros[i], 0);
  for (int i = 0; i < kSize; i += 512) zeros[i] = (char)((long)number + 1);
  memset(pattern, 0xff, sizeof pattern);
  sched_yield();
  for (int i = 0; i < kSize; i += 512) CHECK_EQ(zeros[i], (char)((long)number + 1));
  return NULL;
}

int main(int argc, char** argv) {
  for (int round = 0; round < 3; ++round) run_threads(argument(argc, argv, 1, 4), body);
  CHECK_EQ(pattern[0], 7);
  CHECK_EQ(zeros[512], 0);
  puts("fresh in every thread");
  return 0;
}
