// Processes that wait for each other by looking at a word of memory that they share, plain and by
// an exchange, without a call in the loop.
#include "program.h"

struct Shared {
  volatile long turn;
  char away[4096 - sizeof(long)];
  volatile int lock;  // on another page
  long guarded;
};

static void lock(volatile int* word) {
  while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE)) {}
}

int main(int argc, char** argv) {
  int children = argument(argc, argv, 1, 2);
  int rounds = argument(argc, argv, 2, 20);
  struct Shared* shared = (struct Shared*)mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
                                               MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  for (int i = 0; i < children; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) continue;
    for (int k = 0; k < rounds; ++k) {
      while (shared->turn % children != i) {}
      lock(&shared->lock);
      shared->guarded += i + 1;
      __atomic_store_n(&shared->lock, 0, __ATOMIC_RELEASE);
      shared->turn++;
    }
    _exit(0);
  }
  while (shared->turn != (long)children * rounds) {}
  for (int i = 0, status; i < children; ++i) {
    CHECK(wait(&status) > 0);
    CHECK_EQ(status, 0);
  }
  printf("turns %ld guarded %ld\n", shared->turn, shared->guarded);
  return 0;
}
