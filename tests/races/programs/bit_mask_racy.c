// Each thread sets bits of its own by |= in a shared word.
#include "program.h"

unsigned mask;
static void* body(void* argument) {
  unsigned shift = *(const unsigned*)argument;
  for (unsigned i = 0; i < 16; ++i) {
    mask |= 1u << (i + shift);  // RACE
  }
  return NULL;
}

int main(void) {
  unsigned shift[2] = {0, 16};
  pthread_t one = start(body, &shift[0]), two = start(body, &shift[1]);
  join(one);
  join(two);
  return mask == 0;
}
