// Two threads add to one variable, each in its own function; what they come to, and after which
// addition, a debugger can look at.
#include "program.h"

enum { kRounds = 4 };
volatile int total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) void add_to_total(int number) {
  total += number;
  __asm__ volatile("" ::: "memory");
}

// Here whoever has added still has the variable's page, also in a replay.
__attribute__((noinline)) void has_added(int number) {
  __asm__ volatile("" ::"r"(number) : "memory");
}

static void* adds(void* number) {
  for (int i = 0; i < kRounds; ++i) {
    CHECK_EQ(pthread_mutex_lock(&mutex), 0);
    add_to_total((int)(intptr_t)number);
    has_added((int)(intptr_t)number);
    CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
    sleep_ms(1);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, adds, (void*)(intptr_t)(i ? 100 : 1)), 0);
  for (int i = 0; i < 2; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("total %d\n", total);
  return 0;
}
