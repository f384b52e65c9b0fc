// Two threads convert with one state of conversion.
#include <wchar.h>

#include "twin.h"

static mbstate_t state;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  wchar_t wide;
  if (mbrtowc(&wide, "x", 1, &state) != 1) abort();  // RACE
  use(wide);
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
