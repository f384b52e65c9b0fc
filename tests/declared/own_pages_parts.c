// compiler: weir-cc
// options: policies=declared
#include "threads.h"
static struct { int a, b; } both;
static void *work(void *argument) {
  (void)argument;
  both.a++;
  both.b++;  /* REPORT policy forbidden access OTHER declared */
  return NULL;
}
int main(void) { /* what is said of a part counts, not what nobody has said of the whole */
  weir_object_declare(&both.a, sizeof both.a, WEIR_RACY);
  weir_object_declare(&both.b, sizeof both.b, WEIR_INACCESSIBLE);  /* IS declared */
  alone(work, NULL);
  return both.a == 1 ? ok() : 1;
}
