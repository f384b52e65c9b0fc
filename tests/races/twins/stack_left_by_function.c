// A function gives a thread the address of its variable and returns: the next function's variables lie there.
#include "twin.h"

static pthread_t thread;

static void* body(void* argument) {
  pause_ms(5);
  *(int*)argument = 7;  // RACE
  return NULL;
}

static __attribute__((noinline)) void begin(int* kept) {
  int local[32] = {0};
  thread = start(body, RACY ? &local[16] : kept);
  use(local[3]);
  if (!RACY) join(thread);
}

static __attribute__((noinline)) void go_on(void) {
  for (int i = 0; i < 20; ++i) {
    int local[32];
    for (int k = 0; k < 32; ++k) local[k] = k + i;  // RACE
    use(local[16]);
    __asm__ volatile("" : : "r"(local) : "memory");
    pause_ms(1);
  }
}

int main(void) {
  int kept = 0;
  begin(&kept);
  go_on();
  if (RACY) join(thread);
  return 0;
}
