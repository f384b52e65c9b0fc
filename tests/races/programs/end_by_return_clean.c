// main changes data and returns from main while its thread is about to change them, too, both under a lock.
#include "program.h"

static long data;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  pthread_mutex_lock(&lock);
  data++;
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  start(body, NULL);
  pthread_mutex_lock(&lock);
  data++;
  pthread_mutex_unlock(&lock);
  return 0;
}
