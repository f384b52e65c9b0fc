// memcmp reads the first field, another thread writes the second.
#include "program.h"

struct {
  char key[12];
  int value;
} entry;
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(memcmp(entry.key, "some key abc", sizeof entry.key));
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    entry.value = i;
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
