// Pointer and length are read one after the other while another thread puts a shorter array in
// their place: the old length goes over the end of the new array.
#include "planted.h"

static int* volatile array;
static volatile int length;

static void* sum(void* unused) {
  int total = 0;
  FIX(lock();)
  const int many = length;
  const int* const mine = array;
  for (int i = 0; i < many; i++) total += mine[i];
  FIX(unlock();)
  REQUIRE(total >= 0);
  return unused;
}

static void* shorten(void* unused) {
  int* const shorter = calloc(4, sizeof *shorter);
  lock();
  array = shorter;
  length = 4;
  unlock();
  return unused;  // who reads the old one is nobody's concern here
}

int main(void) {
  array = calloc(8, sizeof *array);
  length = 8;
  RUN(sum, shorten);
  return 0;
}
