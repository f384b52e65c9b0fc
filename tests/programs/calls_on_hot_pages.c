// Threads take pages from each other all the time, and make system calls whose memory lies on them:
// each call reads and writes all of it. A recorder that keeps pages over a task's events must not
// give up what the kernel is about to use.
#include "program.h"

enum { kRounds = 600, kPages = 6, kPage = 4096, kSlot = 64 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Alignas(kPage) char shared[kPages][kPage];
static pthread_barrier_t all_there;
static long total;

static void* body(void* number) {
  int end[2];
  const long own = (long)number;
  CHECK_EQ(pipe(end), 0);
  pthread_barrier_wait(&all_there);
  for (int round = 0; round < kRounds; ++round) {
    char* const from = shared[round % kPages] + own * kSlot;
    char* const to = shared[(round + 1) % kPages] + own * kSlot + kSlot / 2;
    for (int i = 0; i < 8; ++i) {
      CHECK_EQ(pthread_mutex_lock(&lock), 0);
      from[i] = (char)(round + i);
      ++total;
      CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    }
    CHECK_EQ(write(end[1], from, 8), 8);
    CHECK_EQ(read(end[0], to, 8), 8);
    for (int i = 0; i < 8; ++i) CHECK_EQ(to[i], (char)(round + i));
  }
  CHECK_EQ(close(end[0]), 0);
  CHECK_EQ(close(end[1]), 0);
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  CHECK_EQ(pthread_barrier_init(&all_there, NULL, (unsigned)threads), 0);
  run_threads(threads, body);
  CHECK_EQ(total, 8L * kRounds * threads);
  printf("total %ld\n", total);
  return 0;
}
