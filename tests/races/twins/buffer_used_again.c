// One stage hands a buffer to the next by a semaphore; the racy one fills it again too early.
#include "twin.h"

static char buffer[32];
static sem_t full, empty;

static void* fill(void* unused) {
  for (int i = 0; i < 4; ++i) {
    if (!RACY) sem_wait(&empty);
    memset(buffer, 'a' + i, sizeof buffer);  // RACE
    sem_post(&full);
    pause_ms(1);
  }
  return unused;
}

static void* drain(void* unused) {
  for (int i = 0; i < 4; ++i) {
    sem_wait(&full);
    use(buffer[7]);  // RACE
    sem_post(&empty);
  }
  return unused;
}

int main(void) {
  sem_init(&full, 0, 0);
  sem_init(&empty, 0, 1);
  run_two(fill, drain);
  return 0;
}
