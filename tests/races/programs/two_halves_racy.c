// Two locks for the two halves of an array; one thread writes to the first half under the second half's lock.
#include "program.h"

pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
int halves[2][8];
static void* body(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 50; ++i) {
    int half = number;
    pthread_mutex_lock(&locks[half]);
    halves[half][i % 8] += i;         // RACE
    if (half == 1) halves[0][0] = i;  // RACE
    pthread_mutex_unlock(&locks[half]);
  }
  return NULL;
}

int main(void) {
  int numbers[2] = {0, 1};
  pthread_t one = start(body, &numbers[0]), two = start(body, &numbers[1]);
  join(one);
  join(two);
  return 0;
}
