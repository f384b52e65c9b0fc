// Two threads write a member of the one object that a function returns, under a lock.
#include "program.h"

struct Settings {
  int level = 0;
};

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static Settings* settings() {
  static Settings* one = new Settings;
  return one;
}

static void* first(void* unused) {
  pthread_mutex_lock(&mutex);
  settings()->level = 1;
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* second(void* unused) {
  pause_ms(5);
  pthread_mutex_lock(&mutex);
  settings()->level = 2;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main() {
  run_two(first, second);
  return 0;
}
