// One thread appends to a text of which another one takes the length.
#include "program.h"

char text[64];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    strcat(text, "ab");  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use((long)strlen(text));  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
