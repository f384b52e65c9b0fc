// The parts of a vectored write are changed while it is made.
#include <sys/uio.h>

#include "twin.h"

static char text[] = "text";
static struct iovec parts[2] = {{text, 4}, {text, 2}};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    int ends[2];
    if (pipe(ends) != 0 || writev(ends[1], parts, 2) < 0) abort();  // RACE
  } else {
    parts[1].iov_len = 3;  // RACE
  }
  unguard(&mutex);
  return NULL;
}

int main(void) {
  run_threads(2, body);
  return 0;
}
