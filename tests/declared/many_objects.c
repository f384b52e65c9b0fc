#include <string.h>

#include "threads.h"
enum { kMany = 20000 };
static void *fill(void *argument) {
  const int many = times(kMany);
  char **objects = (char **)malloc((size_t)many * sizeof *objects);
  int i, round;
  (void)argument;
  for (round = 0; round < 2; round++) {
    for (i = 0; i < many; i++) {
      objects[i] = (char *)weir_alloc((size_t)(i % 300 + 1), WEIR_PRIVATE);
      memset(objects[i], i & 127, (size_t)(i % 300 + 1));
    }
    for (i = 0; i < many; i++) {
      if (objects[i][i % 300] != (i & 127)) exit(4);
    }
    for (i = 0; i < many; i++) weir_free(objects[i]);
  }
  free(objects);
  return NULL;
}
int main(void) {
  pthread_t thread;
  fill(NULL);
  thread = begin(fill, NULL);
  fill(NULL);
  end(thread);
  return ok();
}
