// A mutex and a counter in memory that a program shares with the processes that it makes, and what
// each of them saw of it.
#include "program.h"

struct Shared {
  pthread_mutex_t lock;
  long count;
  long seen[8];
};

int main(int argc, char** argv) {
  int children = argument(argc, argv, 1, 2);
  int rounds = argument(argc, argv, 2, 1000);
  struct Shared* shared =
      (struct Shared*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pthread_mutexattr_t attributes;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_mutex_init(&shared->lock, &attributes), 0);
  for (int i = 0; i < children; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) continue;
    long mixed = 0;
    for (int k = 0; k < rounds; ++k) {
      CHECK_EQ(pthread_mutex_lock(&shared->lock), 0);
      mixed = mixed * 31 + shared->count++;
      CHECK_EQ(pthread_mutex_unlock(&shared->lock), 0);
      if (k % 16 == 0) sched_yield();
    }
    shared->seen[i] = mixed;
    _exit((int)(mixed & 0x3f));  // which depends on who came when: a replay has the same
  }
  long codes = 0;
  for (int i = 0, status; i < children; ++i) {
    CHECK(wait(&status) > 0);
    CHECK(WIFEXITED(status));
    codes += WEXITSTATUS(status);
  }
  long sum = 0;
  for (int i = 0; i < children; ++i) sum += shared->seen[i] & 0x3f;
  CHECK_EQ(sum, codes);
  CHECK_EQ(shared->count, (long)children * rounds);
  printf("count %ld\n", shared->count);
  return 0;
}
