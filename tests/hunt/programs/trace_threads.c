// A tracer keeps its threads in a table with chains: threads that register at once lose an entry,
// and one that asks for its own name finds none.
#include "planted.h"

struct Entry {
  pthread_t thread;
  struct Entry* volatile next;
};
static struct Entry* volatile chain;
static struct Entry entries[4];

static void* traced(void* number) {
  struct Entry* mine = &entries[(long)number];
  mine->thread = pthread_self();
  FIX(lock();)
  mine->next = chain;
  chain = mine;
  FIX(unlock();)
  FIX(lock();)
  struct Entry* found = chain;
  while (found && !pthread_equal(found->thread, pthread_self())) found = found->next;
  FIX(unlock();)
  REQUIRE(found == mine);
  return NULL;
}

int main(void) {
  RUN(traced, traced, traced, traced);
  return 0;
}
