// Main stores at once after it has made a thread, and ends; the thread reads when it has begun.
#include "twin.h"

int limit;

static void* body(void* unused) {
  use(limit);  // RACE
  return unused;
}

int main(void) {
  if (!RACY) limit = 5;
  start(body, NULL);
  if (RACY) limit = 5;  // RACE
  return 0;
}
