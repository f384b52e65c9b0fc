// exit in a thread ends the process with its status while others block, spin and sleep; atexit runs
// newest first.
#include "program.h"

static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void first(void) { puts("registered first"); }
static void second(void) { puts("registered second"); }

static void* spins(void* unused) {
  for (volatile unsigned long turns = 0;; turns = turns + 1) {}
  return unused;
}
static void* blocks(void* unused) {
  pthread_mutex_lock(&never);
  return unused;
}
static void* reads(void* unused) {
  char byte;
  CHECK_EQ(read(ends[0], &byte, 1), 1);
  return unused;
}
static void* sleeps(void* unused) {
  sleep(1000);
  return unused;
}
static void* leaves(void* unused) {
  sleep_ms(10);
  printf("leaving");  // No newline: exit writes it out.
  fputs("\n", stdout);
  exit(23);
  return unused;
}

int main(void) {
  void* (*const bodies[])(void*) = {spins, blocks, reads, sleeps, leaves};
  pthread_t thread;
  CHECK_EQ(atexit(first), 0);
  CHECK_EQ(atexit(second), 0);
  CHECK_EQ(pipe(ends), 0);
  CHECK_EQ(pthread_mutex_lock(&never), 0);
  for (int i = 0; i < 5; ++i) CHECK_EQ(pthread_create(&thread, NULL, bodies[i], NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 1;
}
