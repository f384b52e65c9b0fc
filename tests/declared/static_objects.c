#include "threads.h"
WEIR_PAGES static int counter = 4;
WEIR_OBJECT(counter, WEIR_UNTOUCHED);
WEIR_PAGES long table[2000];
WEIR_OBJECT(table, WEIR_INACCESSIBLE);
int between = 5;
WEIR_PAGES static struct { int a, b; } both = {1, 2};
WEIR_OBJECT(both, WEIR_RACY);
static void *first(void *argument) {
  (void)argument;
  counter++;  /* IS touched */
  both.a = between;
  weir_acquire_write(table);
  table[1999] = 5;
  weir_release_write(table);  /* IS released */
  return NULL;
}
static void *second(void *argument) {
  (void)argument;
  counter++;        /* REPORT policy forbidden access OTHER touched */
  table[1000] = 5;  /* REPORT policy forbidden access OTHER released */
  both.b = 4;
  return NULL;
}
int main(void) {
  alone(first, NULL);
  alone(second, NULL);
  return counter == 6 ? ok() : 1;  /* REPORT policy forbidden access OTHER touched */
}
