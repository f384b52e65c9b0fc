// A cache is filled with what was read before the value changed and the entry was taken out.
#include "planted.h"

static int stored = 1, cached, is_cached, version;

static void* reader(void* unused) {
  lock();
  const int hit = is_cached;
  const int seen = version;
  unlock();
  if (hit) return unused;
  const int value = __atomic_load_n(&stored, __ATOMIC_SEQ_CST);
  lock();
  if (BUG(1) FIX(seen == version)) {
    cached = value;
    is_cached = 1;
  }
  unlock();
  (void)seen;
  return unused;
}

static void* writer(void* unused) {
  __atomic_store_n(&stored, 2, __ATOMIC_SEQ_CST);
  lock();
  is_cached = 0;
  version++;
  unlock();
  return unused;
}

int main(void) {
  RUN(reader, writer);
  REQUIRE(!is_cached || cached == stored);
  return 0;
}
