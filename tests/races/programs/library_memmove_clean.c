// The table is shifted, and its entry changed, under one mutex.
#include "program.h"

int table[32];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    memmove(table, table + 1, sizeof table - sizeof *table);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    table[7] = i;
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
