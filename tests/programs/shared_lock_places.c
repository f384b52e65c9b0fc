// Threads make locks in memory that they share with a child, and unmap it: the next thread has its
// lock at the same address. The two have nothing to do with each other.
#include "program.h"

enum { kRounds = 20 };
struct shared {
  pthread_mutex_t lock;
  int count;
};

static void count(struct shared* shared) {
  CHECK_EQ(pthread_mutex_lock(&shared->lock), 0);
  ++shared->count;
  CHECK_EQ(pthread_mutex_unlock(&shared->lock), 0);
}

static void* body(void* number) {
  (void)number;
  for (int round = 0; round < kRounds; ++round) {
    struct shared* const shared =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED);
    pthread_mutexattr_t kind;
    CHECK_EQ(pthread_mutexattr_init(&kind), 0);
    CHECK_EQ(pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED), 0);
    CHECK_EQ(pthread_mutex_init(&shared->lock, &kind), 0);
    const pid_t child = fork();
    CHECK(child >= 0);
    count(shared);
    if (!child) _exit(0);
    CHECK_CHILD(child);
    CHECK_EQ(shared->count, 2);
    CHECK_EQ(munmap(shared, 4096), 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  run_threads(threads, body);
  printf("%d\n", threads * kRounds * 2);
  return 0;
}
