// Two keyrings of a user are made at first use. The quick way out looks at the first of them only,
// before the other one is there.
#include "planted.h"

struct Ring {
  int keys;
};
static struct Ring rings[2];
static struct Ring* volatile of_user, * volatile of_session;

static void install(void) {
  FIX(lock();)
  if (BUG(of_user) FIX(of_user && of_session)) {
    FIX(unlock();)
    return;
  }
  BUG(lock();)
  if (!of_user) {
    of_user = &rings[0];
    of_session = &rings[1];
  }
  unlock();
}

static void* use(void* unused) {
  install();
  __atomic_add_fetch(&of_session->keys, 1, __ATOMIC_RELAXED);
  return unused;
}

int main(void) {
  RUN(use, use, use);
  return 0;
}
