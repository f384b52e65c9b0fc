// Named semaphores are one object for threads and for a forked process, and vanish from the system
// once unlinked.
#include "program.h"

static char name[64];
static long total;

static void* body(void* unused) {
  sem_t* mine = sem_open(name, 0);
  CHECK(mine != SEM_FAILED);
  for (int i = 0; i < 100; ++i) {
    CHECK_EQ(sem_wait(mine), 0);
    ++total;
    CHECK_EQ(sem_post(mine), 0);
  }
  CHECK_EQ(sem_close(mine), 0);
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4);
  snprintf(name, sizeof name, "/program-%d", (int)getpid());
  sem_t* semaphore = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  CHECK(semaphore != SEM_FAILED);
  CHECK(sem_open(name, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED && errno == EEXIST);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 100L);
  CHECK_EQ(sem_wait(semaphore), 0);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) _exit(sem_post(semaphore) == 0 ? 0 : 1);
  CHECK_EQ(sem_wait(semaphore), 0);
  CHECK_CHILD(child);
  CHECK_EQ(sem_close(semaphore), 0);
  CHECK_EQ(sem_unlink(name), 0);
  CHECK(sem_open(name, 0) == SEM_FAILED && errno == ENOENT);
  printf("total %ld\n", total);
  return 0;
}
