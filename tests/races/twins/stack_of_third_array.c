// Two threads store to an array on the stack of a third one, at the same index.
#include "twin.h"

struct Part {
  int* numbers;
  int at;
};

static void* fill(void* argument) {
  const struct Part* part = argument;
  part->numbers[part->at] = 1;  // RACE
  return NULL;
}

static void* body(void* unused) {
  int numbers[6] = {0};
  struct Part first = {numbers, 2}, second = {numbers, RACY ? 2 : 3};
  pthread_t one = start(fill, &first), two = start(fill, &second);
  join(one);
  join(two);
  use(numbers[2]);
  return unused;
}

int main(void) {
  join(start(body, NULL));
  return 0;
}
