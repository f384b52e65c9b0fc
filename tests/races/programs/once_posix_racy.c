// pthread_once fills half of the table; what each thread fills in afterwards is not covered by it.
#include "program.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int table[8];
static void fill(void) {
  for (int i = 0; i < 8; ++i) table[i] = i;
}

static void* body(void* unused) {
  pthread_once(&once, fill);
  table[7] = 70;                              // RACE
  for (int i = 0; i < 8; ++i) use(table[i]);  // RACE
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
