// A ring buffer with a flag for each direction, as who knows no conditions writes it: the sender
// clears the flag "may send" only after it has said that there is something to receive.
#include "planted.h"

enum { kSize = 4, kItems = 6 };
static int ring[kSize], first, count;
static int may_send = 1, may_receive;

static void* send(void* unused) {
  for (int sent = 0; sent < kItems;) {
    lock();
    if (!may_send) {
      unlock();
      sched_yield();
      continue;
    }
    while (sent < kItems && count < kSize) {
      ring[(first + count) % kSize] = ++sent;
      count++;
    }
    may_receive = 1;
    BUG(unlock(); lock();)
    may_send = 0;
    unlock();
  }
  return unused;
}

static void* receive(void* unused) {
  for (int expected = 1; expected <= kItems;) {
    lock();
    if (!may_receive) {
      unlock();
      sched_yield();
      continue;
    }
    while (count > 0) {
      REQUIRE(ring[first] == expected);
      first = (first + 1) % kSize;
      count--;
      expected++;
    }
    may_receive = 0;
    may_send = 1;
    unlock();
  }
  return unused;
}

int main(void) {
  RUN(send, receive);
  return 0;
}
