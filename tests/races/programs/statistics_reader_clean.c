// The reporter takes the same lock to read the statistics counter.
#include "program.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
long requests;
static void* worker(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    requests += 2;
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

static void* reporter(void* unused) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(&mutex);
    use(requests);
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

int main(void) {
  run_two(worker, reporter);
  return 0;
}
