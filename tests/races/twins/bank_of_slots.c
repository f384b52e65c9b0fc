// A slot is taken by compare and exchange of its state; the racy one by a look.
#include <stdatomic.h>

#include "twin.h"

static atomic_int states[2];
static int values[2];

static void* body(void* number) {
  for (int i = 0; i < 2; ++i) {
    int free = 0;
    if (RACY ? atomic_load(&states[i]) < 9 : atomic_compare_exchange_strong(&states[i], &free, 1)) {
      values[i] += (int)(long)number;  // RACE
      break;
    }
  }
  return NULL;
}

int main(void) {
  run_threads(2, body);
  use(values[0]);
  return 0;
}
