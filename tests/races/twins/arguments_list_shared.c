// Two threads take from one list of variable arguments.
#include "twin.h"

#include <stdarg.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static va_list list;

static void* body(void* number) {
  pause_ms(5 * (int)(long)number);
  guard(&mutex);
  use(va_arg(list, int));  // RACE
  unguard(&mutex);
  return NULL;
}

static void run(int count, ...) {
  va_start(list, count);
  run_threads(count, body);
  va_end(list);
}

int main(void) {
  run(2, 1, 2, 3, 4);
  return 0;
}
