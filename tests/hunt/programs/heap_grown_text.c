// A text is reallocated to make it longer while another thread reads it by the old pointer.
#include "planted.h"

static char* volatile text;

static void* read_it(void* unused) {
  FIX(lock();)
  const char* const mine = text;
  const size_t length = strlen(mine);
  REQUIRE(length == 5 || length == 40);
  FIX(unlock();)
  return unused;
}

static void* grow(void* unused) {
  lock();
  char* const longer = realloc(text, 41);
  memset(longer + 5, '!', 35);
  longer[40] = 0;
  text = longer;
  unlock();
  return unused;
}

int main(void) {
  text = strdup("hello");
  RUN(read_it, grow);
  return 0;
}
