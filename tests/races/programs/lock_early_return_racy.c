// One path of the function returns to its caller without the lock, and the caller thinks that it has it.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int level;
static int enter(int number) {
  if (number % 2) return 0;
  pthread_mutex_lock(&mutex);
  return 1;
}

static void* body(void* unused) {
  for (int i = 0; i < 40; ++i) {
    int locked = enter(i);
    level += i;  // RACE
    if (locked) pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(body, body);
  return level == 0;
}
