// A dump in pieces frees its state at the end and then says that none goes on; the next one begins
// in between, and both free.
#include "planted.h"

struct Dump {
  int left;
};
static struct Dump* volatile dump;
static volatile int is_running;

static void finish(void) {
  FIX(lock();)
  if (is_running) {
    struct Dump* mine = dump;
    free(mine);
    is_running = 0;
  }
  FIX(unlock();)
}

static void* receive(void* unused) {
  finish();
  return unused;
}

static void* start(void* unused) {
  lock();
  if (!is_running) {
    dump = malloc(sizeof *dump);
    dump->left = 1;
    is_running = 1;
  }
  unlock();
  finish();
  return unused;
}

int main(void) {
  RUN(start, receive);
  return 0;
}
