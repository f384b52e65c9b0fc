// Main stores a thread's number where the thread reads it, after it has made the thread.
#include "twin.h"

static void* body(void* argument) {
  use(*(int*)argument);  // RACE
  return NULL;
}

int main(void) {
  int* numbers = (int*)calloc(6, sizeof(int));
  pthread_t threads[6];
  for (int i = 0; i < 6; ++i) {
    if (!RACY) numbers[i] = i;
    threads[i] = start(body, &numbers[i]);
    if (RACY) numbers[i] = i;  // RACE
  }
  for (int i = 0; i < 6; ++i) join(threads[i]);
  free(numbers);
  return 0;
}
