// A nested function changes a variable of the function around it, which a thread changes, too.
#include "twin.h"

static void* body(void* argument) {
  ++*(int*)argument;  // RACE
  return NULL;
}

int main(void) {
  int numbers[2] = {0, 0};
  pthread_t thread = start(body, &numbers[0]);
  int* place = &numbers[RACY ? 0 : 1];
  for (int i = 0; i < 3; ++i) ++*place;  // RACE
  join(thread);
  use(numbers[0] + numbers[1]);
  return 0;
}
