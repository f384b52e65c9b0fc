// One thread converts a text into wide characters, another reads them.
#include <wchar.h>

#include "twin.h"

static wchar_t wide[16];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    if (mbstowcs(wide, "text", 16) != 4) abort();  // RACE
  } else {
    use(wide[1]);  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
