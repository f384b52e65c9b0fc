// A stack of nodes with a head without count; three threads take one each and put it back twice.
#include "planted.h"

enum { kNodes = 3 };
static int next[kNodes] = {1, 2, -1}, head, used[kNodes];

static int pop(void) {
  int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
  while (first >= 0) {
    const int second = __atomic_load_n(&next[first], __ATOMIC_SEQ_CST);
    if (__atomic_compare_exchange_n(&head, &first, second, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
      return first;
  }
  return -1;
}

static void push(int cell) {
  int first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
  do {
    __atomic_store_n(&next[cell], first, __ATOMIC_SEQ_CST);
  } while (
      !__atomic_compare_exchange_n(&head, &first, cell, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
}

static void* work(void* unused) {
  for (int i = 0; i < 2; i++) {
    FIX(lock();)
    const int a = pop();
    const int b = pop();
    if (a >= 0) REQUIRE(__atomic_add_fetch(&used[a], 1, __ATOMIC_SEQ_CST) == 1);
    if (b >= 0) REQUIRE(__atomic_add_fetch(&used[b], 1, __ATOMIC_SEQ_CST) == 1);
    if (b >= 0) __atomic_sub_fetch(&used[b], 1, __ATOMIC_SEQ_CST);
    if (a >= 0) __atomic_sub_fetch(&used[a], 1, __ATOMIC_SEQ_CST);
    if (a >= 0) push(a);
    if (b >= 0) push(b);
    FIX(unlock();)
  }
  return unused;
}

int main(void) {
  RUN(work, work, work);
  return 0;
}
