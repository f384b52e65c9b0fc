// A forked child may start threads of its own, and its parent's threads go on meanwhile.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void* adds(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&lock);
    ++total;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void* forks(void* unused) {
  int status = 0;
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    pthread_mutex_init(&lock, NULL);
    total = 0;
    run_threads(4, adds);
    exit(total == 200 ? 17 : 1);
  }
  run_threads(2, adds);
  CHECK_EQ(waitpid(child, &status, 0), child);
  CHECK_EQ(status, 17 << 8);
  return unused;
}

int main(void) {
  run_threads(2, forks);
  CHECK_EQ(total, 200);
  printf("total %ld\n", total);
  return 0;
}
