// Request and answer by two words that are polled. The server says that it has answered before the
// value is there.
#include "planted.h"

static int request, answer, value;

static void* server(void* unused) {
  for (int i = 1; i <= 2; i++) {
    while (__atomic_load_n(&request, __ATOMIC_SEQ_CST) != i) {}
    BUG(__atomic_store_n(&answer, 1, __ATOMIC_SEQ_CST);)
    __atomic_store_n(&value, i * 10, __ATOMIC_SEQ_CST);
    FIX(__atomic_store_n(&answer, i, __ATOMIC_SEQ_CST);)
  }
  return unused;
}

static void* client(void* unused) {
  for (int i = 1; i <= 2; i++) {
    __atomic_store_n(&request, i, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&answer, __ATOMIC_SEQ_CST) != FIX(i) BUG(1)) {}
    REQUIRE(__atomic_load_n(&value, __ATOMIC_SEQ_CST) == i * 10);
    BUG(__atomic_store_n(&answer, 0, __ATOMIC_SEQ_CST);)
  }
  return unused;
}

int main(void) {
  RUN(server, client);
  return 0;
}
