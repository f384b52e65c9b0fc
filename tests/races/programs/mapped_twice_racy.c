// One file is mapped twice, and two threads write to the same byte of it at two addresses. gcc's tsan goes by
// addresses: it cannot see it.
#include "program.h"

#include <sys/mman.h>

char *first, *second;
static void* one(void* unused) {
  for (int i = 0; i < 100; ++i) first[8] = (char)i, use(i);  // RACE
  return unused;
}

static void* two(void* unused) {
  for (int i = 0; i < 100; ++i) second[8] = (char)-i, use(i);  // RACE
  return unused;
}

int main(void) {
  int file = memfd_create("twice", 0);
  if (ftruncate(file, 4096) != 0) return 1;
  first = (char*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  second = (char*)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (first == MAP_FAILED || second == MAP_FAILED) return 1;
  run_two(one, two);
  return 0;
}
