#include <fcntl.h>
#include <string.h>

#include "threads.h"
static void *use(void *argument) {
  const int zeros = open("/dev/zero", O_RDONLY), nowhere = open("/dev/null", O_WRONLY);
  char *mine = (char *)weir_alloc(10000, WEIR_PRIVATE);
  if (read(zeros, mine, 10000) != 10000) exit(4);
  if (read(zeros, argument, 8) != 8) exit(5);  /* REPORT policy forbidden access OTHER made LIBRARY */
  if (write(nowhere, mine, 10000) != 10000) exit(6);
  close(zeros);
  close(nowhere);
  weir_free(mine);
  return NULL;
}
int main(void) {
  char *object = (char *)weir_alloc(100, WEIR_PRIVATE);  /* IS made */
  memset(object, 1, 100);
  alone(use, object);
  return object[0] == 0 && object[8] == 1 ? ok() : 1;
}
