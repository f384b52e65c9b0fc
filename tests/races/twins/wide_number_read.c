// A wide text is changed while a number is read from it.
#include <wchar.h>

#include "twin.h"

static wchar_t text[8] = L"123";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) use(wcstol(text, NULL, 10));  // RACE
  else text[0] = L'2';  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
