// A function with a variable number of arguments reads those of its caller, by pointers.
#include <stdarg.h>

#include "twin.h"

static long sum_of(int count, ...) {
  va_list list;
  long sum = 0;
  va_start(list, count);
  while (count-- > 0) sum += *va_arg(list, int*);  // RACE
  va_end(list);
  return sum;
}

static int shared = 1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* unused) {
  int own = 2;
  guard(&mutex);
  use(sum_of(2, &own, &shared));
  unguard(&mutex);
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  pthread_mutex_lock(&mutex);
  shared = 9;  // RACE
  pthread_mutex_unlock(&mutex);
  join(thread);
  return 0;
}
