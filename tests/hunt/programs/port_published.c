// A port is put into the list before its creator is done with it; whoever finds it there may
// delete it.
#include "planted.h"

struct Port {
  int number, references;
};
static struct Port* volatile list;

static void put(struct Port* port) {
  if (__atomic_sub_fetch(&port->references, 1, __ATOMIC_ACQ_REL) == 0) free(port);
}

static void* create(void* unused) {
  struct Port* port = malloc(sizeof *port);
  *port = (struct Port){0, BUG(1) FIX(2)};
  lock();
  list = port;
  unlock();
  port->number = 9;
  FIX(put(port);)
  return unused;
}

static void* delete_port(void* unused) {
  lock();
  struct Port* port = list;
  list = NULL;
  unlock();
  if (port) put(port);
  return unused;
}

int main(void) {
  RUN(create, delete_port);
  return 0;
}
