// Question: what does pthread_create and pthread_join cost where the thread does nothing, one at a
// time and eight?
// Command:  thread_creation [threads to make]
// Figure:   nanoseconds for one thread made and joined, after the first 16; the ratio of the two
//           sides.
#include "workload.h"

static void* nothing(void* argument) { return argument; }

static void make(long count, long at_once) {
  for (long i = 0; i < count; i += at_once) run_threads(at_once, nothing);
}

int main(int argc, char** argv) {
  const long count = argument(argc, argv, 1, 4000);
  for (long at_once = 1; at_once <= 8; at_once *= 8) {
    make(16, at_once);
    const double start = now_ns();
    make(count, at_once);
    printf("at_once_%ld %.1f\n", at_once, (now_ns() - start) / (double)count);
  }
  return 0;
}
