// strdup reads a text that another thread changes.
#include "program.h"

char text[32] = "some words";
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    char* copy = strdup(text);  // RACE
    use(copy[0]);
    free(copy);
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    text[5] = (char)('a' + i);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
