// Another thread changes characters behind the first difference, which strcmp does not come to.
#include "program.h"

char one[32] = "same until here", other[32] = "same until There";
static void* first(void* unused) {
  for (int i = 0; i < 20; ++i) {
    use(strcmp(one, other));
    pause_ms(1);
  }
  return unused;
}

static void* second(void* unused) {
  for (int i = 0; i < 20; ++i) {
    one[13] = (char)('a' + i % 26);
    pause_ms(1);
  }
  return unused;
}

int main(void) {
  run_two(first, second);
  return 0;
}
