// options: policies=declared
#include <string.h>

#include "threads.h"
static void *use(void *argument) {
  int *const *blocks = (int *const *)argument;
  *blocks[0] = 1;  /* REPORT policy forbidden access OTHER made */
  weir_acquire_write(blocks[1]);
  *blocks[1] = 2;
  free(blocks[1]);
  return NULL;
}
int main(void) { /* what malloc gives is private */
  int **blocks = (int **)weir_alloc(2 * sizeof *blocks, WEIR_PRIVATE);
  char *text = (char *)calloc(10, 10);
  blocks[0] = (int *)malloc(100);  /* IS made */
  blocks[1] = (int *)malloc(3000);
  *blocks[0] = *blocks[1] = 0;
  strcpy(text, "some text");
  text = (char *)realloc(text, 5000);
  if (strcmp(text, "some text") || text[99]) return 1;
  weir_release_write(blocks[1]);
  weir_acquire_read(blocks);
  weir_release_read(blocks);
  weir_set_racy(blocks);
  alone(use, blocks);
  if (*blocks[0] != 1) return 1;
  free(blocks[0]);
  free(text);
  weir_free(blocks);
  return ok();
}
