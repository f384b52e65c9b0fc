// options: policies=declared
#include "threads.h"
static volatile int first_one, common;
WEIR_PAGES static int declared = 3;
WEIR_OBJECT(declared, WEIR_RACY);
static void *first(void *argument) {
  (void)argument;
  first_one = 1;
  common = 2;  /* IS touched */
  declared++;
  return NULL;
}
static void *second(void *argument) {
  (void)argument;
  common = 3;  /* REPORT policy forbidden access OTHER touched */
  declared++;
  return NULL;
}
int main(void) { /* what is not declared belongs to who touches it first */
  alone(first, NULL);
  alone(second, NULL);
  return declared == 5 ? ok() : 1;
}
