// Who computes does not wait, and is counted: in x87 registers alone while another thread counts,
// after it has read the clock, and until a time has come.
#include <pthread.h>
#include <time.h>

static volatile int ended;
static volatile unsigned long work;
static int token;

static void* counts(void* unused) {
  while (!ended) work++;
  return unused;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static void* computes_until(void* unused) {
  const double begin = now();
  int readings = 0;
  while (now() < begin + 0.01) {
    for (volatile int i = 0; i < 10000; i++) {}
    readings++;
  }
  return readings < 2000 ? unused : NULL;
}

int main(void) {
  pthread_t thread, other;
  void *first, *second;
  pthread_create(&thread, NULL, counts, NULL);
  volatile long double start = 1;
  long double value = start;
  while (value > 1e-300L) value *= 0.99L;
  ended = 1;
  pthread_join(thread, NULL);
  pthread_create(&thread, NULL, computes_until, &token);
  pthread_create(&other, NULL, computes_until, &token);
  pthread_join(thread, &first);
  pthread_join(other, &second);
  return first && second ? 0 : 1;
}
