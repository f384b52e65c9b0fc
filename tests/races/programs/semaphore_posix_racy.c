// Two semaphores pass a buffer to and fro, but `empty` begins at 2 although there is one buffer only.
#include "program.h"

sem_t empty, full;
int buffer;
static void* producer(void* unused) {
  for (int i = 0; i < 30; ++i) {
    sem_wait(&empty);
    usleep(50);
    buffer = i;  // RACE
    sem_post(&full);
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int i = 0; i < 30; ++i) {
    sem_wait(&full);
    usleep(200);
    use(buffer);  // RACE
    sem_post(&empty);
  }
  return unused;
}

int main(void) {
  sem_init(&empty, 0, 2);
  sem_init(&full, 0, 0);
  run_two(producer, consumer);
  return 0;
}
