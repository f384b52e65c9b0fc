// exec in a thread replaces the whole process: same pid, the other threads gone, arguments and
// environment as given.
#include "program.h"

static void* spins(void* unused) {
  for (;;) sched_yield();
  return unused;
}

static void* replaces(void* name) {
  char pid[16];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  CHECK_EQ(setenv("WORD", "kept", 1), 0);
  CHECK(execl("/no/such/program", "x", (char*)NULL) == -1 && errno == ENOENT);
  execl("/proc/self/exe", (char*)name, "again", pid, (char*)NULL);
  CHECK(!"exec failed");
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[3];
  if (argc > 2 && strcmp(argv[1], "again") == 0) {
    CHECK_EQ(atoi(argv[2]), getpid());
    CHECK_EQ(getpid(), syscall(SYS_gettid));
    CHECK(getenv("WORD") && strcmp(getenv("WORD"), "kept") == 0);
    puts("replaced");
    return 12;
  }
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, spins, NULL), 0);
  CHECK_EQ(pthread_create(&threads[2], NULL, replaces, argv[0]), 0);
  pthread_join(threads[2], NULL);
  return 1;
}
