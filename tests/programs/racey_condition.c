// The racey stress where a condition variable passes a turn between threads, and others go on
// racing meanwhile.
#include "racey.h"

static volatile uint32_t cells[kCells];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int threads, iterations, tokens = 1;

static void* body(void* number) {
  uint32_t state = (uint32_t)(long)number + 1;
  for (int i = 0; i < iterations; i += 1000) {
    state = racey_steps(cells, state, 1000);
    pthread_mutex_lock(&lock);
    while (tokens == 0) pthread_cond_wait(&changed, &lock);
    --tokens;
    pthread_mutex_unlock(&lock);
    state = racey_steps(cells, state, 50);
    pthread_mutex_lock(&lock);
    ++tokens;
    if (state % 2) pthread_cond_signal(&changed);
    else pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  threads = argument(argc, argv, 1, 4);
  iterations = argument(argc, argv, 2, 50000);
  racey_fill(cells);
  run_threads(threads, body);
  CHECK_EQ(tokens, 1);
  racey_print(cells);
  return 0;
}
