// A thread made by clone() has its stack beside a variable that main changes, too.
#include <sys/syscall.h>

#include "twin.h"

enum { kThreadFlags = 0x250f00, kStack = 64 << 10 };  // as clone_end_polled
static int number = 1;
static struct {
  char stack[kStack];
  long count;
} area __attribute__((aligned(4096)));

int clone(int (*body)(void*), void* top, int flags, void* argument, ...);

static int body(void* unused) {
  (void)unused;
  area.count++;  // RACE
  syscall(SYS_exit, 0);
  return 0;
}

int main(void) {
  if (clone(body, area.stack + kStack, kThreadFlags, NULL, NULL, NULL, &number) < 0) return 0;
  if (RACY) {
    pause_ms(5);
    area.count++;  // RACE
  }
  while (__atomic_load_n(&number, __ATOMIC_ACQUIRE) != 0) usleep(1000);
  use(area.count);
  return 0;
}
