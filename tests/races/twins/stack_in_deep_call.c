// A function ten calls deep makes the thread that its own variable is given to.
#include "twin.h"

static void* body(void* argument) {
  *(int*)argument = 2;  // RACE
  return NULL;
}

__attribute__((noinline)) static int deep(int left) {
  volatile char frame[200];
  frame[left] = 1;
  if (left > 0) return deep(left - 1) + frame[left];
  int value = 0;
  pthread_t thread = start(body, &value);
  if (!RACY) join(thread);
  int seen = value;  // RACE
  if (RACY) join(thread);
  return seen + value;
}

int main(void) {
  use(deep(10));
  return 0;
}
