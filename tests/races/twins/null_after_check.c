// A pointer is looked at, then used; in between another thread sets it to NULL.
#include "twin.h"

static struct device {
  int* private;
} device;
int data;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* user(void* unused) {
  guard(&mutex);
  int* seen = device.private;  // RACE
  if (seen != NULL) use(*seen);
  unguard(&mutex);
  return unused;
}

static void* closer(void* unused) {
  guard(&mutex);
  device.private = NULL;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  device.private = &data;
  run_two(user, closer);
  return 0;
}
