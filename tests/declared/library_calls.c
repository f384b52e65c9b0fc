#include <string.h>

#include "threads.h"
static void *use(void *argument) {
  static volatile size_t size = 900;
  char here[900];
  memset(here, 2, sizeof here);
  memcpy(argument, here, size);  /* REPORT policy forbidden access OTHER made */
  return NULL;
}
int main(void) {
  char *object = (char *)weir_alloc(1000, WEIR_PRIVATE);  /* IS made */
  memset(object, 1, 1000);
  alone(use, object);
  return object[0] == 2 && object[999] == 1 ? ok() : 1;
}
