// Main frees a block that its thread still counts in.
#include "twin.h"

static void* body(void* argument) {
  int* block = (int*)argument;
  block[0]++;  // RACE
  return NULL;
}

int main(void) {
  int* block = (int*)calloc(4, sizeof(int));
  pthread_t thread = start(body, block);
  if (!RACY) join(thread);
  free(block);  // RACE
  if (RACY) join(thread);
  return 0;
}
