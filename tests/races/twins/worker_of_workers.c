// A thread makes threads and ends without joining them; main has joined it, and reads what they write.
#include "twin.h"

static int total;
static pthread_t inner;

static void* deep(void* unused) {
  pause_ms(10);
  total = 5;  // RACE
  return unused;
}

static void* outer(void* unused) {
  inner = start(deep, NULL);
  if (!RACY) join(inner);
  return unused;
}

int main(void) {
  join(start(outer, NULL));
  use(total);  // RACE
  if (RACY) join(inner);
  return 0;
}
