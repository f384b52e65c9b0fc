// Each thread sets bits of its own by an atomic or in a shared word.
#include "program.h"

unsigned mask;
static void* body(void* argument) {
  unsigned shift = *(const unsigned*)argument;
  for (unsigned i = 0; i < 16; ++i) { __atomic_fetch_or(&mask, 1u << (i + shift), __ATOMIC_RELAXED); }
  return NULL;
}

int main(void) {
  unsigned shift[2] = {0, 16};
  pthread_t one = start(body, &shift[0]), two = start(body, &shift[1]);
  join(one);
  join(two);
  return mask == 0;
}
