// A large struct is copied whole without the lock under which it is changed.
#include "program.h"

struct State {
  double position[3], speed[3];
  int steps, extra[21];
} state;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* mover(void* unused) {
  for (int i = 0; i < 100; ++i) {
    pthread_mutex_lock(&mutex);
    state.position[i % 3] += 0.5;  // RACE
    state.steps++;                 // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* watcher(void* unused) {
  for (int i = 0; i < 50; ++i) {
    struct State copy = state;  // RACE
    use(copy.steps + copy.extra[i % 21] + (long)copy.position[i % 3]);
  }
  return unused;
}

int main(void) {
  run_two(mover, watcher);
  return 0;
}
