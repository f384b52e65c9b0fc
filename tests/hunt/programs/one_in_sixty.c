// Sixty clients; the fortieth's request may be handled before the one that it depends on.
#include "planted.h"

enum { kAll = 60 };
static int is_set[kAll];

static void* request(void* number) {
  const int me = (int)(long)number;
  lock();
  is_set[me] = 1;
  if (me == 40) {
    const int ok = FIX(1 ||) is_set[7];
    unlock();
    REQUIRE(ok);
    return NULL;
  }
  unlock();
  return NULL;
}

int main(void) {
  run_many(kAll, request, 0, NULL);
  return 0;
}
