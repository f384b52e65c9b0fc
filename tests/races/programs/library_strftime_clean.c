// A date is written and read under one mutex.
#include "program.h"

#include <string.h>
#include <time.h>

char date[32];
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    struct tm time = {.tm_year = 100 + i, .tm_mday = 1};
    pthread_mutex_lock(&mutex);
    strftime(date, sizeof date, "%Y-%m-%d", &time);
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    use((long)strlen(date));
    pthread_mutex_unlock(&mutex);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
