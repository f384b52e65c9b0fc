// Seven philosophers, each of whom takes the left fork first; the last one does, too.
#include "planted.h"

enum { kSeats = 7 };
static pthread_mutex_t forks[kSeats];

static void* dine(void* seat) {
  long left = (long)seat, right = (left + 1) % kSeats;
  FIX(if (right < left) {
    const long kept = left;
    left = right;
    right = kept;
  })
  pthread_mutex_lock(&forks[left]);
  pthread_mutex_lock(&forks[right]);
  pthread_mutex_unlock(&forks[right]);
  pthread_mutex_unlock(&forks[left]);
  return NULL;
}

int main(void) {
  Body bodies[kSeats];
  for (int i = 0; i < kSeats; i++) pthread_mutex_init(&forks[i], NULL);
  for (int i = 0; i < kSeats; i++) bodies[i] = dine;
  run_threads(kSeats, bodies);
  return 0;
}
