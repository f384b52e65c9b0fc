// A large structure is assigned (rep movs, or a call of memcpy).
#include "planted.h"
struct big {
  long words[40];
};
static struct big shared, source;
static void* fill(void* n) {
  FIX(lock();) shared = source;
  FIX(unlock();) return n;
}
static void* check(void* n) {
  FIX(lock();) const long a = shared.words[2], b = shared.words[33];
  FIX(unlock();) REQUIRE(a == b);
  return n;
}
int main(void) {
  for (int i = 0; i < 40; i++) source.words[i] = 9;
  RUN(fill, check);
  return 0;
}
