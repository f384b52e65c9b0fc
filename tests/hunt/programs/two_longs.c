// A pair of longs is copied by one wide instruction each way.
#include "planted.h"
struct pair {
  long a, b;
};
static struct {
  char pad[8];
  struct pair p;
} shared;
static void* write_pair(void* u) {
  for (long i = 1; i < 4; i++) {
    struct pair p = {i, -i};
    FIX(lock();) shared.p = p;
    FIX(unlock();)
  }
  return u;
}
static void* read_pair(void* u) {
  FIX(lock();) struct pair p = shared.p;
  FIX(unlock();) REQUIRE(p.a + p.b == 0);
  return u;
}
int main(void) {
  RUN(write_pair, read_pair);
  return 0;
}
