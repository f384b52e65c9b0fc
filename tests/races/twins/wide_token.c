// Two threads cut one wide text, with one place.
#include <wchar.h>

#include "twin.h"

static wchar_t text[16] = L"a b c d", *rest;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  wchar_t* from = (long)number == 0 ? text : NULL;
  if (from || rest) wcstok(from, L" ", &rest);  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
