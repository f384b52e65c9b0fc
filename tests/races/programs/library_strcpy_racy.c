// strcpy into a text of which another thread asks for the strlen.
#include "program.h"

char title[64] = "first";
static void* writer(void* unused) {
  for (int i = 0; i < 50; ++i) {
    strcpy(title, i % 2 ? "a long title of many words" : "short");  // RACE
  }
  return unused;
}

static void* reader(void* unused) {
  for (int i = 0; i < 50; ++i) {
    use((long)strlen(title));  // RACE
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
