// A semaphore that two may pass at a time protects nothing.
#include "twin.h"

int data;
static sem_t semaphore;

static void* body(void* unused) {
  sem_wait(&semaphore);
  data++;  // RACE
  pause_ms(80);
  sem_post(&semaphore);
  return unused;
}

int main(void) {
  sem_init(&semaphore, 0, RACY ? 2 : 1);
  run_two(body, body);
  return 0;
}
