// Memory of alloca() is handed to a thread, and used beside it.
#include "twin.h"

#include <alloca.h>

static int waits(void) { return !RACY; }

static void* body(void* cells) {
  pause_ms(5);
  ((int*)cells)[3] += 1;  // RACE
  return NULL;
}

int main(int count, char** unused) {
  (void)unused;
  int* cells = alloca(sizeof(int) * 4 * (size_t)(count + 3));
  for (int i = 0; i < 8; ++i) cells[i] = i;
  pthread_t thread = start(body, cells);
  if (waits()) join(thread);
  cells[3] += 1;  // RACE
  use(cells[3]);
  if (!waits()) join(thread);
  return 0;
}
