// pthread_once fills the table: whoever returns from it sees all of it.
#include "program.h"

pthread_once_t once = PTHREAD_ONCE_INIT;
int table[8];
static void fill(void) {
  for (int i = 0; i < 8; ++i) table[i] = i;
}

static void* body(void* unused) {
  pthread_once(&once, fill);
  for (int i = 0; i < 8; ++i) use(table[i]);
  return unused;
}

int main(void) {
  run_two(body, body);
  return 0;
}
