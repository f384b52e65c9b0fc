// Two threads append to one wide text.
#include <wchar.h>

#include "twin.h"

static wchar_t text[16] = L"a";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  wcsncat(text, L"bc", 2);  // RACE
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(text[0]);
  return 0;
}
