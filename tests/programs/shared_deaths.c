// Processes that share memory are killed while they have it, execute another program, and make
// processes that make processes.

#include "program.h"

struct Shared {
  pthread_mutex_t lock;
  sem_t ready;
  long count;
  volatile long spins;
};

static void count_up(struct Shared* shared) {
  int result = pthread_mutex_lock(&shared->lock);
  if (result == EOWNERDEAD) CHECK_EQ(pthread_mutex_consistent(&shared->lock), 0);
  else CHECK_EQ(result, 0);
  ++shared->count;
  CHECK_EQ(pthread_mutex_unlock(&shared->lock), 0);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "executed") == 0) return 3;
  struct Shared* shared =
      (struct Shared*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  pthread_mutexattr_t attributes;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED), 0);
  CHECK_EQ(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST), 0);
  CHECK_EQ(pthread_mutex_init(&shared->lock, &attributes), 0);
  CHECK_EQ(sem_init(&shared->ready, 1, 0), 0);
  int status;

  pid_t killed = fork();  // while it has the page
  CHECK(killed >= 0);
  if (killed == 0) {
    CHECK_EQ(sem_post(&shared->ready), 0);
    shared->spins = 1;
    for (;;) pause();
  }
  CHECK_EQ(sem_wait(&shared->ready), 0);
  CHECK_EQ(kill(killed, SIGKILL), 0);
  count_up(shared);
  CHECK_EQ(waitpid(killed, &status, 0), killed);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

  pid_t holder = fork();  // while it has the lock and the page
  CHECK(holder >= 0);
  if (holder == 0) {
    CHECK_EQ(pthread_mutex_lock(&shared->lock), 0);
    raise(SIGKILL);
  }
  CHECK_EQ(waitpid(holder, &status, 0), holder);
  count_up(shared);

  pid_t executes = fork();
  CHECK(executes >= 0);
  if (executes == 0) {
    count_up(shared);
    execl("/proc/self/exe", argv[0], "executed", NULL);
    _exit(1);
  }
  count_up(shared);
  CHECK_EQ(waitpid(executes, &status, 0), executes);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);

  pid_t family[3];
  for (int i = 0; i < 3; ++i) {
    family[i] = fork();
    CHECK(family[i] >= 0);
    if (family[i] > 0) continue;
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    for (int k = 0; k < 100; ++k) count_up(shared);
    if (grandchild == 0) _exit(0);
    CHECK_CHILD(grandchild);
    _exit(0);
  }
  for (int i = 0; i < 3; ++i) CHECK_CHILD(family[i]);
  printf("count %ld\n", shared->count);
  return 0;
}
