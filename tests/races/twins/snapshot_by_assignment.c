// A structure is copied whole while another thread sets its members, of which one is not read.
#include "twin.h"

struct settings {
  int width, height;
  char title[40];
  double scale;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct settings settings = {10, 20, "window", 1.0};

static void* resizer(void* unused) {
  pthread_mutex_lock(&mutex);
  settings.width = 30;
  settings.scale = 2.0;  // RACE
  pthread_mutex_unlock(&mutex);
  return unused;
}

static void* painter(void* unused) {
  guard(&mutex);
  const struct settings mine = settings;  // RACE
  unguard(&mutex);
  use(mine.height + mine.title[2] + (long)mine.scale);
  return unused;
}

int main(void) {
  run_two(painter, resizer);
  return 0;
}
