// A key is looked at before its lock is taken: by then another thread has revoked it and its
// payload is gone.
#include "planted.h"

static volatile int is_revoked;
static int* payload;

static void* read_key(void* unused) {
  BUG(const int may_read = !is_revoked;)
  lock();
  FIX(const int may_read = !is_revoked;)
  if (may_read) REQUIRE(*payload == 7);
  unlock();
  return unused;
}

static void* revoke_key(void* unused) {
  lock();
  is_revoked = 1;
  free(payload);
  payload = NULL;
  unlock();
  return unused;
}

int main(void) {
  payload = malloc(sizeof *payload);
  *payload = 7;
  RUN(read_key, read_key, revoke_key);
  return 0;
}
