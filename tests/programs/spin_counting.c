// A spin that counts its own turns ends too, although no two of its turns are the same.
#include "program.h"

static volatile int flag;
static volatile unsigned long turns_seen;

static void* body(void* unused) {
  unsigned long turns = 0;
  while (!flag) ++turns;
  turns_seen = turns;
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  sleep_ms(2);
  flag = 1;
  CHECK_EQ(pthread_join(thread, NULL), 0);
  puts("ended");
  return 0;
}
