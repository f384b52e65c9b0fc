// As it is chosen in a loop: compilers may load both ways.
#include "twin.h"

static int shared[64], wanted[64], sums[2];

static void* body(void* number) {
  int last, sum = 0;
  for (int i = 0; i < 64; ++i) {
    if (wanted[i]) last = shared[i];  // RACE
    if (wanted[i]) sum += last;
  }
  sums[(long)number] = sum;
  return NULL;
}

int main(void) {
  for (int i = 0; i < 64; ++i) wanted[i] = RACY ? 1 : i % 2;
  pthread_t one = start(body, (void*)0);
  for (int i = 0; i < 64; i += 2) shared[i] = i;  // RACE
  join(one);
  use(sums[0]);
  return 0;
}
