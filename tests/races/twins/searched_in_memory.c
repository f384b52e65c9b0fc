// A part of a text is looked for while another thread swaps its bytes.
#include "twin.h"

static char text[64] = "some text that is long enough to be searched";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  char turned[64];
  guard(&mutex);
  if ((long)number == 0) explicit_bzero(text + 20, 8);  // RACE
  else use(memmem(text, 44, "enough", 6) != NULL);  // RACE
  swab(turned, turned + 32, 16);
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
