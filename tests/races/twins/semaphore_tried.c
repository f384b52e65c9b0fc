// A semaphore is tried before it is posted; the racy program does not ask whether it was had.
#include "twin.h"

static sem_t filled;
static int result[4];

static void* producer(void* unused) {
  for (int i = 0; i < 4; ++i) result[i] = i;  // RACE
  pause_ms(40);
  sem_post(&filled);
  return unused;
}

static void* consumer(void* unused) {
  pause_ms(20);
  int error = sem_trywait(&filled);
  while (!RACY && error != 0) {
    pause_ms(1);
    error = sem_trywait(&filled);
  }
  use(result[1] + error);  // RACE
  return unused;
}

int main(void) {
  sem_init(&filled, 0, 0);
  run_two(producer, consumer);
  return 0;
}
