// A process-shared mutex and condition variable in a shared mapping work between forked processes,
// also when one dies.
#include "program.h"

struct Shared {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  long count, turn;
};

int main(int argc, char** argv) {
  int children = argument(argc, argv, 1, 4);
  struct Shared* shared =
      (struct Shared*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attributes;
  pthread_condattr_t condition_attributes;
  CHECK(shared != MAP_FAILED);
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  CHECK_EQ(pthread_mutex_init(&shared->lock, &attributes), 0);
  CHECK_EQ(pthread_condattr_init(&condition_attributes), 0);
  CHECK_EQ(pthread_condattr_setpshared(&condition_attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_cond_init(&shared->changed, &condition_attributes), 0);
  for (int i = 0; i < children; ++i) {
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) continue;
    for (int k = 0; k < 50; ++k) {
      CHECK_EQ(pthread_mutex_lock(&shared->lock), 0);
      while (shared->turn % children != i)
        CHECK_EQ(pthread_cond_wait(&shared->changed, &shared->lock), 0);
      ++shared->turn;
      shared->count += i;
      CHECK_EQ(pthread_cond_broadcast(&shared->changed), 0);
      CHECK_EQ(pthread_mutex_unlock(&shared->lock), 0);
    }
    _exit(0);
  }
  for (int i = 0, status; i < children; ++i) {
    CHECK(wait(&status) > 0);
    CHECK_EQ(status, 0);
  }
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(pthread_mutex_lock(&shared->lock));
  CHECK_EQ(waitpid(child, NULL, 0), child);
  CHECK_EQ(pthread_mutex_lock(&shared->lock), EOWNERDEAD);
  CHECK_EQ(shared->turn, children * 50L);
  printf("turns %ld sum %ld\n", shared->turn, shared->count);
  return 0;
}
