// With an unlimited stack the kernel leaves five sixths of all addresses to it, and the libraries
// lie low. Their data are shared by all threads there as anywhere: libc counts its threads, and
// keeps the streams' buffers.
#include <sys/resource.h>

#include "program.h"

static int threads_seen;

static void* body(void* round) {
  printf("thread of round %d\n", (int)(intptr_t)round);
  ++threads_seen;
  return round;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    struct rlimit limit;
    CHECK_EQ(getrlimit(RLIMIT_STACK, &limit), 0);
    limit.rlim_cur = limit.rlim_max;  // usually without limit
    CHECK_EQ(setrlimit(RLIMIT_STACK, &limit), 0);
    execl("/proc/self/exe", argv[0], "again", (char*)NULL);
    CHECK(!"the program was executed");
  }
  puts("executed");  // what the stream's first use leaves behind is not left on a thread's stack
  for (int round = 0; round < 5; ++round) {
    pthread_t thread;
    void* end = NULL;
    CHECK_EQ(pthread_create(&thread, NULL, body, (void*)(intptr_t)round), 0);
    CHECK_EQ(pthread_join(thread, &end), 0);
    CHECK_EQ((intptr_t)end, round);
    printf("joined %d\n", round);
  }
  CHECK_EQ(threads_seen, 5);
  return 0;
}
