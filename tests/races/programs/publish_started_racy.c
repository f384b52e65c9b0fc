// main starts the reader before it fills the table.
#include "program.h"

int table[64];
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 64; ++i) sum += table[i];  // RACE
  use(sum);
  return unused;
}

int main(void) {
  pthread_t thread = start(reader, NULL);
  for (int i = 0; i < 64; ++i) table[i] = i;  // RACE
  join(thread);
  return 0;
}
