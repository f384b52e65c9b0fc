// A semaphore that guards a box is posted once more than it was taken.
#include "twin.h"

static sem_t free_boxes;
static long item;

static void* body(void* number) {
  for (int i = 0; i < 3; ++i) {
    sem_wait(&free_boxes);
    item += (long)number;  // RACE
    pause_ms(15);
    item -= i;  // RACE
    sem_post(&free_boxes);
  }
  return NULL;
}

int main(void) {
  sem_init(&free_boxes, 0, 1);
  if (RACY) sem_post(&free_boxes);
  run_threads(2, body);
  use(item);
  return 0;
}
