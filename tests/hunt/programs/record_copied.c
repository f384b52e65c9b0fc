// A record of 64 bytes is copied by memcpy while it is filled.
#include "planted.h"
struct record {
  long words[8];
};
static struct record shared;
static void* fill(void* n) {
  struct record r;
  for (int i = 0; i < 8; i++) r.words[i] = 7;
  __asm__("" : : "r"(&r) : "memory");
  FIX(lock();) memcpy(&shared, &r, sizeof r);
  FIX(unlock();) return n;
}
static void* copy(void* n) {
  struct record r;
  FIX(lock();) memcpy(&r, &shared, sizeof r);
  FIX(unlock();) __asm__("" : : "r"(&r) : "memory");
  for (int i = 1; i < 8; i++) REQUIRE(r.words[i] == r.words[0]);
  return n;
}
int main(void) {
  RUN(fill, copy);
  return 0;
}
