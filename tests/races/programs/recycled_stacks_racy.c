// Short threads come one after another and use the same stack memory; main reads the last one's local too early.
#include "program.h"

long* place;
sem_t offered, looked;
static void offer(long* local) { place = local; }

static void* body(void* number) {
  long local[64];
  for (int i = 0; i < 64; ++i) local[i] = *(int*)number;
  offer(local);
  sem_post(&offered);
  local[9] = 0;  // RACE
  sem_wait(&looked);
  use(local[9]);
  return NULL;
}

int main(void) {
  sem_init(&offered, 0, 0);
  sem_init(&looked, 0, 0);
  for (int i = 0; i < 10; ++i) {
    pthread_t thread = start(body, &i);
    sem_wait(&offered);
    use(place[9]);  // RACE
    sem_post(&looked);
    join(thread);
  }
  return 0;
}
