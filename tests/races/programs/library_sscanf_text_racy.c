// sscanf reads the text and writes the word that another thread reads.
#include "program.h"

#include <stdio.h>
#include <string.h>

char word[16];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    sscanf("key word", "%*s %15s", word);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use((long)strlen(word));  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
