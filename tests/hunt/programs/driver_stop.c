// A driver is stopped while a request begins: the request has seen that it is not stopping before
// it counts itself in, and then works on a driver that is gone.
#include "planted.h"

static volatile int is_stopping, is_stopped;
static int pending = 1;

static void leave(void) {
  if (__atomic_sub_fetch(&pending, 1, __ATOMIC_SEQ_CST) == 0) is_stopped = 1;
}

static int enter(void) {
  BUG(if (is_stopping) return 0;)
  __atomic_add_fetch(&pending, 1, __ATOMIC_SEQ_CST);
  FIX(if (is_stopping) {
    leave();
    return 0;
  })
  return 1;
}

static void* request(void* unused) {
  if (!enter()) return unused;
  REQUIRE(!is_stopped);
  leave();
  return unused;
}

static void* stop(void* unused) {
  is_stopping = 1;
  leave();
  return unused;
}

int main(void) {
  RUN(stop, request);
  return 0;
}
