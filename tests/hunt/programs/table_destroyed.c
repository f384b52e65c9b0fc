// An engine's table of names goes with its last context; a thread that makes one meanwhile has
// counted itself, but found the table before.
#include "planted.h"

static int contexts = 1;
static int* volatile table;

static void* make_context(void* unused) {
  BUG(int* names = table;)
  lock();
  FIX(int* names = table;)
  if (contexts == 0) {
    unlock();
    return unused;
  }
  contexts++;
  BUG(unlock();)
  if (names) names[0]++;
  FIX(unlock();)
  return unused;
}

static void* drop_context(void* unused) {
  lock();
  if (--contexts == 0) {
    free(table);
    table = NULL;
  }
  unlock();
  return unused;
}

int main(void) {
  table = calloc(4, sizeof *table);
  RUN(make_context, drop_context, drop_context);
  return 0;
}
