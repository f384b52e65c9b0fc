// Two threads write to the same byte of memory from mmap.
#include "program.h"

#include <sys/mman.h>

char* map;
static void* body(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 100; ++i) {
    map[100] = (char)(i + number);  // RACE
    use(i);
  }
  return NULL;
}

int main(void) {
  int numbers[2] = {0, 1};
  map = (char*)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (map == MAP_FAILED) return 1;
  pthread_t one = start(body, &numbers[0]), two = start(body, &numbers[1]);
  join(one);
  join(two);
  return munmap(map, 8192);
}
