// A child sends its parent a signal and then tells it so, through a pipe or by its end: the signal
// has come by then, also in a parent that has had threads, and under Weir has a process for each.
#include "program.h"

enum { kBytes = 60, kEnds = 20 };
static volatile int come;

static void on_signal(int number) { (void)number, ++come; }

static void* nothing(void* unused) { return unused; }

int main(void) {
  int asks[2], tells[2], late = 0;
  char byte = 0;
  CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
  CHECK(signal(SIGRTMIN, on_signal) != SIG_ERR);
  CHECK_EQ(pipe(asks) + pipe(tells), 0);
  run_threads(2, nothing);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    const union sigval value = {.sival_int = 1};
    for (int i = 0; read(asks[0], &byte, 1) == 1 && byte != 'q'; ++i) {
      if (i % 2) CHECK_EQ(kill(getppid(), SIGUSR1), 0);
      else CHECK_EQ(sigqueue(getppid(), SIGRTMIN, value), 0);
      CHECK_EQ(write(tells[1], "x", 1), 1);
    }
    _exit(0);
  }
  for (int i = 0; i < kBytes; ++i) {
    come = 0;
    CHECK_EQ(write(asks[1], "g", 1), 1);
    while (read(tells[0], &byte, 1) != 1) CHECK_EQ(errno, EINTR);
    late += come != 1;
  }
  CHECK_EQ(write(asks[1], "q", 1), 1);
  CHECK_CHILD(child);
  for (int i = 0; i < kEnds; ++i) {
    come = 0;
    const pid_t brief = fork();
    CHECK(brief >= 0);
    if (brief == 0) _exit(kill(getppid(), SIGUSR1));
    while (waitpid(brief, NULL, 0) != brief) CHECK_EQ(errno, EINTR);
    late += come != 1;
  }
  printf("%d signals came after what was told of them\n", late);
  return 0;
}
