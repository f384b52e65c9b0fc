// Two threads got small heap blocks of their own, side by side, but one of them writes through the other's pointer
// once.
#include "program.h"

char* blocks[2];
static void* body(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 100; ++i) blocks[number][i % 16] = (char)i;  // RACE
  if (number == 1) blocks[0][3] = 0;                               // RACE
  return NULL;
}

int main(void) {
  int numbers[2] = {0, 1};
  blocks[0] = (char*)malloc(16), blocks[1] = (char*)malloc(16);
  pthread_t one = start(body, &numbers[0]), two = start(body, &numbers[1]);
  join(one);
  join(two);
  free(blocks[0]), free(blocks[1]);
  return 0;
}
