// main joins the first thread and reads the result of the second.
#include "program.h"

int results[2];
static void* body(void* result) {
  *(int*)result = 5;  // RACE
  return NULL;
}

int main(void) {
  pthread_t one = start(body, &results[0]), two = start(body, &results[1]);
  join(one);
  use(results[1]);  // RACE
  join(two);
  return 0;
}
