// A signal that a handler blocks, and raises, comes when the handler returns: before the program's
// next instruction, and not in one of its next calls.
#include <sys/stat.h>

#include "program.h"

enum { kDeep = 5 };
static volatile int count, other;

static void on_signal(int number) {
  if (++count < kDeep) CHECK_EQ(raise(number), 0);
}

static void on_other(int number) {
  (void)number;
  other = count;
}

static void look(void) {
  struct stat status;
  count = other = 0;
  CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(count, kDeep);
  CHECK_EQ(fstat(1, &status), 0);
  CHECK_EQ(raise(SIGUSR2), 0);
  CHECK_EQ(other, kDeep);
}

static void* look_in_thread(void* unused) {
  look();
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  action.sa_handler = on_other;
  CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  look();
  run_threads(1, look_in_thread);
  look();
  puts("each came at the return");
  return 0;
}
