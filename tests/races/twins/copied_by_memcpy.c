// A settings block is copied by memcpy while another thread changes one of its members.
#include "twin.h"

struct Settings {
  char name[40];
  int level;
};
static struct Settings settings;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* change(void* unused) {
  guard(&mutex);
  settings.level = 3;  // RACE
  unguard(&mutex);
  return unused;
}

static void* copy(void* unused) {
  struct Settings mine;
  pause_ms(5);
  guard(&mutex);
  memcpy(&mine, &settings, sizeof mine);  // RACE
  unguard(&mutex);
  use(mine.level);
  return unused;
}

int main(void) {
  run_two(change, copy);
  return 0;
}
