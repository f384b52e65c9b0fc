// A work-stealing deque of objects that know whether they were done. The thief reads the item
// after it has moved the head, when the owner may have put another one into the same slot.
#include "planted.h"

enum { kSlots = 2, kItems = 5 };
static volatile int head, tail;
static int* volatile slots[kSlots];
static int done[kItems];

static void do_it(int* item) { REQUIRE(__atomic_add_fetch(item, 1, __ATOMIC_SEQ_CST) == 1); }

static int* steal(void) {
  int first = head;
  if (first >= tail) return NULL;
  FIX(lock();)
  FIX(first = head;)
  FIX(int* item = first < tail ? slots[first % kSlots] : NULL;)
  FIX(if (item) head = first + 1;)
  FIX(unlock();)
  BUG(int* item = NULL;)
  BUG(if (__atomic_compare_exchange_n(&head, &first, first + 1, 0, __ATOMIC_SEQ_CST,
                                      __ATOMIC_SEQ_CST)) item = slots[first % kSlots];)
  return item;
}

static void* own(void* unused) {
  for (int i = 0; i < kItems; i++) {
    FIX(lock();)
    const int is_full = tail - head == kSlots;
    if (!is_full) {
      slots[tail % kSlots] = &done[i];
      tail = tail + 1;
    }
    FIX(unlock();)
    if (is_full) do_it(&done[i]);
  }
  return unused;
}

static void* thieve(void* unused) {
  for (int i = 0; i < 2; i++) {
    int* item = steal();
    if (item) do_it(item);
  }
  return unused;
}

int main(void) {
  RUN(own, thieve, thieve);
  return 0;
}
