// main joins both threads before it reads the results.
#include "program.h"

int results[2];
static void* body(void* result) {
  *(int*)result = 5;
  return NULL;
}

int main(void) {
  pthread_t one = start(body, &results[0]), two = start(body, &results[1]);
  join(one);
  join(two);
  use(results[1]);
  return 0;
}
