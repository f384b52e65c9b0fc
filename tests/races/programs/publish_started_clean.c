// main fills the table before it starts the reader.
#include "program.h"

int table[64];
static void* reader(void* unused) {
  long sum = 0;
  for (int i = 0; i < 64; ++i) sum += table[i];
  use(sum);
  return unused;
}

int main(void) {
  for (int i = 0; i < 64; ++i) table[i] = i;
  pthread_t thread = start(reader, NULL);
  join(thread);
  return 0;
}
