// Two threads have a parallel region each, and add what came out to one total.
#include "twin.h"

static long total;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  long sum = (long)number;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
  for (int i = 0; i < 40; ++i) sum += i;
  guard(&mutex);
  total += sum;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(total);
  return 0;
}
