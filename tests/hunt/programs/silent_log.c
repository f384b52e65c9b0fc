// No assertion: two lines of a log change places, or are one within the other.
#include "planted.h"

static char text[64];

static void say(const char* words) {
  for (const char* at = words; *at; at++) {
    const size_t length = strlen(text);
    text[length] = *at;
  }
}

static void* work(void* unused) {
  FIX(lock();)
  say("[x]");
  FIX(unlock();)
  return unused;
}

int main(void) {
  RUN(work, work);
  printf("%s\n", text);
  return 0;
}
