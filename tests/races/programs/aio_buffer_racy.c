// A buffer is written to a file meanwhile. It is changed before that is over.
#include <aio.h>

#include "program.h"

static char buffer[64];

int main(void) {
  FILE* file = tmpfile();
  if (!file) abort();
  struct aiocb block = {.aio_fildes = fileno(file), .aio_buf = buffer, .aio_nbytes = sizeof buffer};
  for (int i = 0; i < 10; i++) {
    buffer[3] = (char)i;  // RACE
    if (aio_write(&block) != 0) abort();
    buffer[3]++;  // RACE
    const struct aiocb* list[1] = {&block};
    while (aio_error(&block) == EINPROGRESS) aio_suspend(list, 1, NULL);
    aio_return(&block);
    buffer[3]++;  // RACE
  }
  return 0;
}
