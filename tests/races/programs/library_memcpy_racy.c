// One thread fills the buffer by memcpy while the other one copies out of it.
#include "program.h"

char picture[1024];
static void* writer(void* unused) {
  char own[1024];
  memset(own, 7, sizeof own);
  for (int i = 0; i < 50; ++i) {
    memcpy(picture, own, sizeof picture);  // RACE
    use(own[i]);
  }
  return unused;
}

static void* reader(void* unused) {
  char own[1024];
  for (int i = 0; i < 50; ++i) {
    memcpy(own, picture, sizeof own);  // RACE
    use(own[i]);
  }
  return unused;
}

int main(void) {
  run_two(writer, reader);
  return 0;
}
