// The peer is looked at, and used, and may be taken away in between: a null pointer.
#include "planted.h"

struct Peer {
  int id;
};
static struct Peer the_peer = {3};
static struct Peer* peer = &the_peer;

static void* send_message(void* unused) {
  FIX(lock();)
  if (__atomic_load_n(&peer, __ATOMIC_SEQ_CST))
    REQUIRE(__atomic_load_n(&peer, __ATOMIC_SEQ_CST)->id == 3);
  FIX(unlock();)
  return unused;
}

static void* disconnect(void* unused) {
  FIX(lock();)
  __atomic_store_n(&peer, NULL, __ATOMIC_SEQ_CST);
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(send_message, disconnect, send_message);
  return 0;
}
