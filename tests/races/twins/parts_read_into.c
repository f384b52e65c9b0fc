// The parts of a vectored read are changed while it is made.
#include <sys/uio.h>

#include "twin.h"

static char room[8];
static struct iovec parts[2] = {{room, 4}, {room + 4, 2}};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* number) {
  guard(&mutex);
  if ((long)number == 0) {
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], "text", 4) != 4) abort();
    if (readv(ends[0], parts, 2) != 4) abort();  // RACE
  } else {
    parts[1].iov_len = 3;  // RACE
  }
  unguard(&mutex);
  return number;
}

int main(void) {
  run_threads(2, body);
  use(0);
  return 0;
}
