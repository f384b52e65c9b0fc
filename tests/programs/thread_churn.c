// Hundreds of short threads one after the other, then many alive at once, all run, and none is left
// behind.
#include "program.h"

static long total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all_here;

static void* short_life(void* number) {
  total += (long)number;
  return number;
}

static void* together(void* number) {
  char local[2000];
  memset(local, (int)(long)number, sizeof local);
  pthread_barrier_wait(&all_here);
  pthread_mutex_lock(&lock);
  total += local[(long)number];
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int sequential = argument(argc, argv, 1, 500), at_once = argument(argc, argv, 2, 64);
  for (long i = 0; i < sequential; ++i) {
    pthread_t thread;
    void* value = NULL;
    CHECK_EQ(pthread_create(&thread, NULL, short_life, (void*)i), 0);
    CHECK_EQ(pthread_join(thread, &value), 0);
    CHECK_EQ((long)value, i);
  }
  CHECK_EQ(total, (long)sequential * (sequential - 1) / 2);
  total = 0;
  CHECK_EQ(pthread_barrier_init(&all_here, NULL, (unsigned)at_once), 0);
  run_threads(at_once, together);
  CHECK_EQ(total, (long)at_once * (at_once - 1) / 2);
  printf("sequential %d at once %d\n", sequential, at_once);
  return 0;
}
