// A task's context is read by another one without the lock under which it is dropped at its end.
#include "planted.h"

struct Context {
  int priority, references;
};
static struct Context* volatile context;

static void* end_task(void* unused) {
  lock();
  struct Context* mine = context;
  context = NULL;
  unlock();
  if (__atomic_sub_fetch(&mine->references, 1, __ATOMIC_ACQ_REL) == 0) free(mine);
  return unused;
}

static void* ask(void* unused) {
  FIX(lock();)
  struct Context* its = context;
  if (its) REQUIRE(its->priority == 4);
  FIX(unlock();)
  return unused;
}

int main(void) {
  context = malloc(sizeof *context);
  *context = (struct Context){4, 1};
  RUN(ask, end_task);
  return 0;
}
