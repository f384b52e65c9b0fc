// Main polls the word that the kernel clears at the end of a thread made by clone(), and then
// reads.
#include <sys/syscall.h>

#include "twin.h"

enum {  // as <linux/sched.h> has them
  kMemory = 0x100,
  kFolder = 0x200,
  kFiles = 0x400,
  kHandlers = 0x800,
  kThread = 0x10000,
  kSemaphores = 0x40000,
  kClears = 0x200000,
};
enum { kStack = 64 << 10 };
static int number;
static long data;

int clone(int (*body)(void*), void* top, int flags, void* argument, ...);

static int body(void* unused) {
  (void)unused;
  data = 7;  // RACE
  syscall(SYS_exit, 0);
  return 0;
}

int main(void) {
  number = 1;
  char* const stack = aligned_alloc(4096, kStack);
  const int flags = kMemory | kFolder | kFiles | kHandlers | kThread | kSemaphores | kClears;
  if (clone(body, stack + kStack, flags, NULL, NULL, NULL, &number) < 0) return 0;
  if (RACY) {
    pause_ms(5);
    use(data);  // RACE
  }
  while (__atomic_load_n(&number, __ATOMIC_ACQUIRE) != 0) usleep(1000);
  use(data);
  return 0;
}
