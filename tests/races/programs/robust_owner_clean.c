// The owner of a robust mutex ends with it. Who gets it knows what that one did.
#include "program.h"

pthread_mutex_t mutex;
int data;

static void* owner(void* unused) {
  pthread_mutex_lock(&mutex);
  data = 1;
  return unused;
}

static void* heir(void* unused) {
  pause_ms(40);
  if (pthread_mutex_lock(&mutex) == EOWNERDEAD) pthread_mutex_consistent(&mutex);
  data++;
  pthread_mutex_unlock(&mutex);
  return unused;
}

int main(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  run_two(owner, heir);
  return 0;
}
