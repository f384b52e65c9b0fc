// A work-stealing deque: owner and thief both take the last item, since the owner does not look
// again after it has lowered the bottom.
#include "planted.h"

static int top, bottom = 1, taken[1];

static void take(int index) {
  REQUIRE(__atomic_add_fetch(&taken[index], 1, __ATOMIC_SEQ_CST) == 1);
}

static void* own(void* unused) {
  const int last = __atomic_sub_fetch(&bottom, 1, __ATOMIC_SEQ_CST);
  int first = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
  if (first > last) return unused;
#ifdef FIXED
  if (first == last &&
      !__atomic_compare_exchange_n(&top, &first, first + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return unused;
#endif
  take(last);
  return unused;
}

static void* steal(void* unused) {
  int first = __atomic_load_n(&top, __ATOMIC_SEQ_CST);
  if (first >= __atomic_load_n(&bottom, __ATOMIC_SEQ_CST)) return unused;
  if (!__atomic_compare_exchange_n(&top, &first, first + 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    return unused;
  take(first);
  return unused;
}

int main(void) {
  RUN(own, steal);
  return 0;
}
