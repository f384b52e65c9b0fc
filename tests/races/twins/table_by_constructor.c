// A constructor fills a table before main; the racy program fills it again beside a reader.
#include "twin.h"

static int table[4];

__attribute__((constructor)) static void fill(void) {
  for (int i = 0; i < 4; ++i) table[i] = i * i;  // RACE
}

static void* body(void* unused) {
  use(table[2]);  // RACE
  return unused;
}

int main(void) {
  pthread_t thread = start(body, NULL);
  if (RACY) fill();
  join(thread);
  return 0;
}
