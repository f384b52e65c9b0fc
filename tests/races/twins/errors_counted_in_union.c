// The last error is kept in a union; one thread stores its text, another one its code.
#include "twin.h"

static union {
  long code;
  char text[16];
} last;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* by_code(void* unused) {
  guard(&mutex);
  last.code = 7;  // RACE
  unguard(&mutex);
  return unused;
}

static void* by_text(void* unused) {
  guard(&mutex);
  strcpy(last.text, "full");  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(by_code, by_text);
  use(last.code);
  return 0;
}
