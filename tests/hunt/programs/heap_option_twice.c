// Two calls set a socket's option, each frees the old one: both may free the same.
#include "planted.h"

static char* option;

static void* set_option(void* unused) {
  char* const mine = strdup("new");
  BUG(char* const old = __atomic_load_n(&option, __ATOMIC_SEQ_CST);
      __atomic_store_n(&option, mine, __ATOMIC_SEQ_CST);)
  FIX(char* const old = __atomic_exchange_n(&option, mine, __ATOMIC_SEQ_CST);)
  free(old);
  return unused;
}

int main(void) {
  option = strdup("old");
  RUN(set_option, set_option);
  free(option);
  return 0;
}
