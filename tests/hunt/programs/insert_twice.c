// Each thread inserts a key if a search has not found it; between search and insertion the other
// one inserts it.
#include "planted.h"

static int keys[8], count;

static int has(int key) {
  for (int i = 0; i < count; i++)
    if (keys[i] == key) return 1;
  return 0;
}

static void* insert(void* number) {
  const int wanted[] = {7, (int)(long)number + 20, 7};
  for (int i = 0; i < 3; i++) {
    lock();
    const int found = has(wanted[i]);
    BUG(unlock(); lock();)
    if (!found) keys[count++] = wanted[i];
    unlock();
  }
  return NULL;
}

int main(void) {
  RUN(insert, insert);
  REQUIRE(count == 3);
  return 0;
}
