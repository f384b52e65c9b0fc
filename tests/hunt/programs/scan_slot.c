// A scanner keeps a cursor into a list of slots. When it was the last slot that left, the cursor
// stands on the list's head, which is no slot.
#include "planted.h"

struct Slot {
  struct Slot* next;
  int* memory;
};
static int memory = 1;
static struct Slot head, only;
static struct Slot* volatile cursor;

static void* leave(void* unused) {
  lock();
  head.next = &head;
  if (cursor == &only) cursor = &head;
  only.memory = NULL;
  unlock();
  return unused;
}

static void* scan(void* unused) {
  int is_empty;
  lock();
  is_empty = head.next == &head;
  BUG(unlock();)
  if (is_empty) {
    FIX(unlock();)
    return unused;
  }
  BUG(lock();)
  cursor = head.next;
  *cursor->memory += 1;
  unlock();
  return unused;
}

int main(void) {
  head.next = &only;
  only.next = &head;
  only.memory = &memory;
  RUN(scan, leave);
  return 0;
}
