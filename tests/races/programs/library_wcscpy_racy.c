// wcscpy writes a wide text that another thread reads.
#include "program.h"

#include <wchar.h>

wchar_t text[16];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    wcscpy(text, i % 2 ? L"short" : L"somewhat long");  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use((long)wcslen(text));  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
