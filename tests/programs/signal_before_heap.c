// A timer's signals meet a computation that follows the program's first use of the heap, with no
// system call of its own in between; then one that follows a large block's end.
#include <sys/time.h>

#include "program.h"

static volatile sig_atomic_t alarms;
static volatile unsigned long sum;

static void on_alarm(int signal) { (void)signal, ++alarms; }

static void compute(int until) {
  for (int i = 0; i < 100000 && (alarms < until || i < 20); ++i)
    for (unsigned long k = 0; k < 20000; ++k) sum = sum * 31 + k;
}

int main(void) {
  const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, on_alarm);
  CHECK_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
  char* volatile block = malloc(1 << 20);
  memset(block, 1, 1 << 20);
  compute(5);
  free(block);
  block = malloc(64 << 20);
  memset(block, 1, 64 << 20);
  free(block);
  compute(10);
  CHECK_EQ(setitimer(ITIMER_REAL, &never, NULL), 0);
  CHECK(alarms >= 10);
  puts("computed");
  return 0;
}
