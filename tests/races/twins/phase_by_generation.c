// Rounds by a barrier of a lock and a condition; in one late round two threads use one element.
#include "twin.h"

enum { kThreads = 3, kRounds = 150 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_here = PTHREAD_COND_INITIALIZER;
static int arrived, generation, cells[64];

static void wait_all(void) {
  pthread_mutex_lock(&mutex);
  const int mine = generation;
  if (++arrived == kThreads) {
    arrived = 0;
    generation++;
    pthread_cond_broadcast(&all_here);
  }
  while (mine == generation) pthread_cond_wait(&all_here, &mutex);
  pthread_mutex_unlock(&mutex);
}

static void* body(void* number) {
  const long me = (long)number;
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 16; ++i) cells[(me + round) % kThreads * 16 + i]++;
    if (round == 140) cells[RACY ? 60 : 48 + me]++;  // RACE
    wait_all();
  }
  return NULL;
}

int main(void) {
  run_threads(kThreads, body);
  use(cells[60]);
  return 0;
}
