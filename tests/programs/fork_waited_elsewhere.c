// A child forked by one thread, even one that has ended, is a child of the process: any other
// thread may wait for it.
#include "program.h"

static pid_t children[kMaxThreads];

static void* forks(void* number) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    sleep_ms(3);
    _exit(30 + (int)(long)number);
  }
  children[(long)number] = child;
  return NULL;
}

static void* waits(void* number) {
  int status = 0;
  CHECK_EQ(waitpid(children[(long)number], &status, 0), children[(long)number]);
  CHECK(WIFEXITED(status));
  CHECK_EQ(WEXITSTATUS(status), 30 + (long)number);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), status = 0;
  run_threads(threads, forks);
  run_threads(threads, waits);
  run_threads(1, forks);
  siginfo_t information;
  CHECK_EQ(waitid(P_PID, (id_t)children[0], &information, WEXITED | WNOWAIT), 0);
  CHECK_EQ(information.si_status, 30);
  CHECK_EQ(wait(&status), children[0]);
  CHECK_EQ(WEXITSTATUS(status), 30);
  CHECK(wait(&status) == -1 && errno == ECHILD);
  puts("all waited for");
  return 0;
}
