// A pipeline of three stages by semaphores that goes round: the last stage lets the first begin again.
#include "program.h"

sem_t stages[3];
int item;
static void* stage(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 20; ++i) {
    sem_wait(&stages[number]);
    item = item * 2 + number;
    sem_post(&stages[(number + 1) % 3]);
  }
  return NULL;
}

int main(void) {
  int numbers[3] = {0, 1, 2};
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) sem_init(&stages[i], 0, i == 0);
  for (int i = 0; i < 3; ++i) threads[i] = start(stage, &numbers[i]);
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
