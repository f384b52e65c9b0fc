// wcsncpy writes a wide text that another thread compares.
#include "program.h"

#include <wchar.h>

wchar_t text[16];
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    wcsncpy(text, i % 2 ? L"short" : L"longer", 16);  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(wcscmp(text, L"short"));  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
