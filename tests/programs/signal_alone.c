// A program of one thread whose timer's handler makes the same calls (memory, processes) that it
// interrupts: both go on.
#include <sys/time.h>

#include "program.h"

static volatile sig_atomic_t alarms;

static void* map_and_fill(size_t size, int with) {
  char* at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(at != MAP_FAILED);
  memset(at, with, size);
  return at;
}

static void check_and_unmap(char* at, size_t size, int with) {
  for (size_t i = 0; i < size; i += 512) CHECK_EQ(at[i], with);
  CHECK_EQ(munmap(at, size), 0);
}

static void on_alarm(int number) {
  (void)number;
  ++alarms;
  for (int i = 0; i < 3; ++i) check_and_unmap(map_and_fill(8192, 7), 8192, 7);
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval never = {{0, 0}, {0, 0}};
  sigset_t set, old;
  CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGALRM);
  for (int i = 0; i < 1500 || alarms < 100; ++i) {
    // One at a time: where the handler takes longer than the timer nothing else would go on.
    struct itimerval soon = {{0, 0}, {0, 1 + i % 60}};
    CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
    check_and_unmap(map_and_fill(16384, i & 63), 16384, i & 63);
    if (i % 16 == 0) {
      CHECK_EQ(sigprocmask(SIG_BLOCK, &set, &old), 0);
      CHECK_EQ(sigismember(&old, SIGALRM), 0);
      CHECK_EQ(sigprocmask(SIG_SETMASK, &old, NULL), 0);
    }
    if (i % 500 == 0) {
      pid_t child = fork();
      CHECK(child >= 0);
      if (child == 0) {
        check_and_unmap(map_and_fill(16384, 9), 16384, 9);
        _exit(5);
      }
      int status;
      CHECK_EQ(waitpid(child, &status, 0), child);
      CHECK_EQ(WEXITSTATUS(status), 5);
    }
  }
  CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
  puts("both went on");
  return 0;
}
