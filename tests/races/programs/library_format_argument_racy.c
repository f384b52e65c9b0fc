// snprintf reads the text that its %s names while another thread changes it.
#include "program.h"

char name[24] = "nobody";
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    char line[64];
    use(snprintf(line, sizeof line, "%d: %-10s %5.1f %.3s", i, name, 0.5 * i, name));  // RACE
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    name[1] = (char)('a' + i);  // RACE
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
