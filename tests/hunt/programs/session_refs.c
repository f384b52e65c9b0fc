// A session is given back by two connections and a timer; each looks whether it was the last, by a
// count that it has lowered without care.
#include "planted.h"

static struct { int references, frees; } session = {3, 0};

static void* give_back(void* unused) {
  FIX(lock();)
  session.references--;
  if (session.references == 0) session.frees++;
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(give_back, give_back, give_back);
  REQUIRE(session.frees == 1);
  return 0;
}
