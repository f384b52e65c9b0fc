/* What does each annotation cost, natively and checked? Prints nanoseconds.
 *
 * cc -O2 -I include tests/declared/cost/cost.c -o cost -pthread && ./cost && weir check ./cost */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <weir/weir.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

#define MEASURE(name, times, code)                                  \
  do {                                                              \
    const long count_ = (times);                                    \
    double begin_;                                                  \
    long i;                                                         \
    for (i = 0; i < count_ / 10; i++) { code; }                     \
    begin_ = now();                                                 \
    for (i = 0; i < count_; i++) { code; }                          \
    printf("%-44s %9.1f\n", name, (now() - begin_) / (double)count_); \
  } while (0)

static void *run(void *argument) {
  const long n = weir_active() ? 20000 : 2000000;
  volatile int *object = (volatile int *)weir_alloc(64, WEIR_INACCESSIBLE);
  volatile int *locked = (volatile int *)weir_alloc(64, WEIR_PRIVATE);
  char *large = (char *)weir_alloc(1 << 20, WEIR_INACCESSIBLE);
  const char *kind = (const char *)argument;
  printf("--- %s\n", kind);
  MEASURE("acquire_write + store + release_write", n, { weir_acquire_write((void *)object); *object = 1; weir_release_write((void *)object); });
  MEASURE("acquire_write + release_write", n, { weir_acquire_write((void *)object); weir_release_write((void *)object); });
  MEASURE("acquire_read + load + release_read", n, { weir_acquire_read((void *)object); (void)*object; weir_release_read((void *)object); });
  MEASURE("the same of 1 MiB, all touched", n / 1000 + 1, { weir_acquire_write(large); memset(large, 1, 1 << 20); weir_release_write(large); });
  MEASURE("lock + store + unlock, no policy", n, { pthread_mutex_lock(&lock); ((volatile int *)&i)[0] += 0; pthread_mutex_unlock(&lock); });
  *locked = 0;
  weir_set_locked((void *)locked, &lock);
  MEASURE("lock + store + unlock, locked", n, { pthread_mutex_lock(&lock); ++*locked; pthread_mutex_unlock(&lock); });
  MEASURE("alloc + store + free, 64 bytes", n, { int *block = (int *)weir_alloc(64, WEIR_PRIVATE); *(volatile int *)block = 1; weir_free(block); });
  MEASURE("alloc + store + free, 64 KiB", n / 20, { int *block = (int *)weir_alloc(65536, WEIR_PRIVATE); *(volatile int *)block = 1; weir_free(block); });
  MEASURE("policy_of", n, { (void)weir_policy_of((void *)object); });
  return NULL;
}

int main(void) {
  pthread_t thread;
  struct weir_array *array = weir_array_slice(1000000, sizeof(int), 31250, WEIR_UNTOUCHED);
  int *plain = (int *)malloc(1000000 * sizeof(int)), sum = 0;
  long k;
  memset(plain, 0, 1000000 * sizeof(int));
  for (k = 0; k < 1000000; k++) *(int *)weir_array_at(array, (size_t)k) = 0;
  run((void *)"one thread");
  if (pthread_create(&thread, NULL, run, (void *)"a second thread")) return 1;
  pthread_join(thread, NULL);
  MEASURE("an element of a plain array", 20, for (k = 0; k < 1000000; k++) sum += ((volatile int *)plain)[k]);
  MEASURE("an element of 32 slices: a million", 20, for (k = 0; k < 1000000; k++) sum += *(volatile int *)weir_array_at(array, (size_t)k));
  return sum;
}
