// One thread frees a block that the other still uses; what it finds there is no pointer any more.
#include "planted.h"

struct Message {
  int* volatile number;
};
static struct Message* volatile message;
static int number = 4;

static void* use(void* unused) {
  FIX(lock();)
  struct Message* const one = message;
  if (one) REQUIRE(*one->number == 4);
  FIX(unlock();)
  return unused;
}

static void* discard(void* unused) {
  FIX(lock();)
  struct Message* const one = message;
  message = NULL;
  one->number = NULL;  // as its destructor would
  free(one);
  FIX(unlock();)
  return unused;
}

int main(void) {
  message = malloc(sizeof *message);
  message->number = &number;
  RUN(use, discard);
  return 0;
}
