// A ticket is drawn by a read and a write; two threads with the same number are served at once.
#include "planted.h"

static volatile int next_ticket, inside;

static void* visit(void* unused) {
  FIX(lock();)
  const int mine = next_ticket;
  next_ticket = mine + 1;
  FIX(unlock();)
  if (mine == 0) {
    const int before = inside;
    inside = before + 1;
  }
  return unused;
}

int main(void) {
  RUN(visit, visit, visit);
  REQUIRE(inside == 1 && next_ticket == 3);
  return 0;
}
