// A lock that checks for errors is not taken twice by its owner; the racy program takes it that it is.
#include "twin.h"

static pthread_mutex_t mutex;
static int value;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  pthread_mutex_lock(&mutex);
  const int again = pthread_mutex_lock(&mutex);
  if (RACY || again == 0) pthread_mutex_unlock(&mutex);
  value += 1;  // RACE
  pthread_mutex_unlock(&mutex);
  return NULL;
}

int main(void) {
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&mutex, &kind);
  run_threads(3, body);
  use(value);
  return 0;
}
