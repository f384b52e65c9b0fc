// Spins on an atomic flag with pause, with sched_yield, with usleep and with a function call in the
// loop all end.
#include "program.h"

enum { kKinds = 5, kRounds = 5 };
static int turn[kKinds], value[kKinds];
static int* volatile indirect[kKinds];

static __attribute__((noinline)) int look(int kind) {
  __asm__ volatile("" ::: "memory");
  return __atomic_load_n(indirect[kind], __ATOMIC_ACQUIRE);
}

static void wait_for(int kind, int want) {
  switch (kind) {
    case 0:
      while (__atomic_load_n(&turn[0], __ATOMIC_ACQUIRE) != want) __builtin_ia32_pause();
      break;
    case 1:
      while (__atomic_load_n(&turn[1], __ATOMIC_ACQUIRE) != want) sched_yield();
      break;
    case 2:
      while (__atomic_load_n(&turn[2], __ATOMIC_ACQUIRE) != want) usleep(100);
      break;
    case 3:
      while (look(3) != want) {}
      break;
    case 4:
      while (__atomic_load_n(&turn[4], __ATOMIC_SEQ_CST) != want) {}
      break;
  }
}

static void* body(void* number) {
  int kind = (int)(long)number / 2, side = (int)(long)number % 2;
  for (int i = 0; i < kRounds; ++i) {
    wait_for(kind, 2 * i + side);
    CHECK_EQ(value[kind], 2 * i + side);
    ++value[kind];
    __atomic_store_n(&turn[kind], 2 * i + side + 1,
                     kind == 4 ? __ATOMIC_SEQ_CST : __ATOMIC_RELEASE);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int first = argument(argc, argv, 1, 0), last = argument(argc, argv, 2, kKinds);
  for (int kind = first; kind < last;
       ++kind) {  // One pair at a time: a spin wants a processor for itself.
    pthread_t pair[2];
    indirect[kind] = &turn[kind];
    for (long side = 0; side < 2; ++side) {
      CHECK_EQ(pthread_create(&pair[side], NULL, body, (void*)(2L * kind + side)), 0);
    }
    for (int side = 0; side < 2; ++side) CHECK_EQ(pthread_join(pair[side], NULL), 0);
    CHECK_EQ(value[kind], 2 * kRounds);
  }
  printf("rounds %d\n", kRounds);
  return 0;
}
