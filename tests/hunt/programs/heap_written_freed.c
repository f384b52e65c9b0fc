// A line is handed to write() by one thread while another replaces and frees it: only the kernel
// touches the freed block.
#include <fcntl.h>

#include "planted.h"

static char* volatile line;
static int ends[2];

static void* write_it(void* unused) {
  FIX(lock();)
  const char* const mine = line;
  (void)!write(ends[1], mine, 8);
  FIX(unlock();)
  return unused;
}

static void* replace(void* unused) {
  char* const next = strdup("second!\n");
  lock();
  char* const last = line;
  line = next;
  unlock();
  free(last);
  return unused;
}

int main(void) {
  REQUIRE(pipe(ends) == 0);
  line = strdup("first!!\n");
  RUN(write_it, replace);
  return 0;
}
