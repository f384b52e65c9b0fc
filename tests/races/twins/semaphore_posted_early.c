// The semaphore is posted before the data is stored.
#include "twin.h"

int data;
static sem_t semaphore;

static void* producer(void* unused) {
  if (!RACY) data = 4;
  sem_post(&semaphore);
  if (RACY) data = 4;  // RACE
  return unused;
}

static void* consumer(void* unused) {
  sem_wait(&semaphore);
  use(data);  // RACE
  return unused;
}

int main(void) {
  sem_init(&semaphore, 0, 0);
  run_two(producer, consumer);
  return 0;
}
