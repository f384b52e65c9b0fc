// All three threads meet at the barrier between writing their cell and reading the others'.
#include "program.h"

pthread_barrier_t barrier;
int cells[3];
static void* body(void* argument) {
  int number = *(int*)argument;
  for (int phase = 1; phase <= 10; ++phase) {
    cells[number] = phase;
    pthread_barrier_wait(&barrier);
    use(cells[(number + 1) % 3]);
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  int numbers[3] = {0, 1, 2};
  pthread_t threads[3];
  pthread_barrier_init(&barrier, NULL, 3);
  for (int i = 0; i < 3; ++i) threads[i] = start(body, &numbers[i]);
  for (int i = 0; i < 3; ++i) join(threads[i]);
  return 0;
}
