// A thread clears a table by memset through its argument while main counts in it.
#include "twin.h"

static void* cleaner(void* argument) {
  memset(argument, 0, 400);  // RACE
  return NULL;
}

int main(void) {
  int* table = (int*)calloc(100, sizeof(int));
  pthread_t thread = start(cleaner, table);
  if (!RACY) join(thread);
  table[50]++;  // RACE
  if (RACY) join(thread);
  free(table);
  return 0;
}
