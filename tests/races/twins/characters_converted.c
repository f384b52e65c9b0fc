// What iconv is to convert is changed by another thread.
#include <iconv.h>

#include "twin.h"

static char from[8] = "text";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    const iconv_t how = iconv_open("UTF-16LE", "UTF-8");
    if (how == (iconv_t)-1) abort();
    char to[32], *in = from, *out = to;
    size_t left = 4, room = sizeof to;
    if (iconv(how, &in, &left, &out, &room) != 0) abort();  // RACE
    iconv_close(how);
  } else {
    from[2] = 's';  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
