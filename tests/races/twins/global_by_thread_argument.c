// Threads are given addresses in one array; two of them overlap by an element.
#include "twin.h"

static int data[16];

static void* body(void* start_of) {
  int* at = start_of;
  for (int i = 0; i < (RACY ? 6 : 5); ++i) at[i] += i;  // RACE
  return NULL;
}

int main(void) {
  const pthread_t one = start(body, data), two = start(body, data + 5);
  join(one);
  join(two);
  return 0;
}
