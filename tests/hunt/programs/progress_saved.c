// A download in parts is interrupted: the handler's thread adds up what each part has written
// and saves it, while parts go on.
#include "planted.h"

enum { kParts = 3, kBlocks = 3 };
static volatile int written[kParts], total;
static volatile int saved_parts, saved_total = -1;

static void* fetch(void* part) {
  for (int i = 0; i < kBlocks; i++) {
    FIX(lock();)
    written[(long)part]++;
    BUG(lock();)
    total++;
    BUG(unlock();)
    FIX(unlock();)
  }
  return NULL;
}

static void* interrupt(void* unused) {
  lock();
  int sum = 0;
  for (int i = 0; i < kParts; i++) sum += written[i];
  saved_parts = sum;
  saved_total = total;
  unlock();
  REQUIRE(saved_parts == saved_total);
  return unused;
}

int main(void) {
  RUN(fetch, fetch, fetch, interrupt);
  return 0;
}
