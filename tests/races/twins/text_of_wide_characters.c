// Wide characters are set while another thread converts them.
#include <wchar.h>

#include "twin.h"

static wchar_t text[16] = L"wide characters";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  char bytes[64];
  guard(&mutex);
  if ((long)number == 0) wmemset(text, L'w', 9);  // RACE
  else use((long)wcstombs(bytes, text, sizeof bytes));  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
