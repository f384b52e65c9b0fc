// One thread reads a number by sscanf into a variable that another counts up.
#include "twin.h"

int number;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* scanner(void* unused) {
  guard(&mutex);
  if (sscanf("17", "%d", &number) != 1) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* counter(void* unused) {
  guard(&mutex);
  number = number + 1;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(scanner, counter);
  return 0;
}
