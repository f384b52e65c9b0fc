// errno and thread-locals of C belong to one thread: what others do in between never changes them.
#include "program.h"

static __thread int own = 11;
static __thread char big[300000];
static pthread_barrier_t barrier;

static void* body(void* number) {
  long me = (long)number;
  CHECK_EQ(own, 11);
  CHECK_EQ(big[299999], 0);
  for (int round = 0; round < 10; ++round) {
    errno = (int)me + 1;
    own = (int)me + round;
    big[round * 1000] = (char)me;
    pthread_barrier_wait(&barrier);
    CHECK_EQ(errno, me + 1);
    if (me % 2) CHECK(close(-1) == -1 && errno == EBADF);
    else CHECK(open("/no/such/file", O_RDONLY) == -1 && errno == ENOENT);
    pthread_barrier_wait(&barrier);
    CHECK_EQ(errno, me % 2 ? EBADF : ENOENT);
    CHECK_EQ(own, me + round);
    CHECK_EQ(big[round * 1000], (char)me);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, (unsigned)threads), 0);
  errno = 77;
  own = 22;
  run_threads(threads, body);
  CHECK_EQ(own, 22);
  CHECK_EQ(big[1000], 0);
  puts("private to each");
  return 0;
}
