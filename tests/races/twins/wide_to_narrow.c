// Two threads convert wide characters into one text.
#include <wchar.h>

#include "twin.h"

static char text[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if (wcstombs(text, L"wide", sizeof text) != 4) abort();  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(text[0]);
  return 0;
}
