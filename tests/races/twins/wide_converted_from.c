// A wide text is changed while another thread converts it.
#include <wchar.h>

#include "twin.h"

static wchar_t from[8] = L"wide";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    const wchar_t* at = from;
    char to[8];
    mbstate_t state = {0};
    if (wcsrtombs(to, &at, sizeof to, &state) > 7) abort();  // RACE
  } else {
    from[1] = L'a';  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
