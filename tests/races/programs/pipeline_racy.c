// A pipeline of three stages by semaphores; the first stage begins the next round without waiting for the last stage.
#include "program.h"

sem_t stages[3];
int item;
static void* stage(void* argument) {
  int number = *(int*)argument;
  for (int i = 0; i < 20; ++i) {
    if (number != 0) sem_wait(&stages[number]);
    if (number == 0) usleep(100);
    item = item * 2 + number;  // RACE
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
