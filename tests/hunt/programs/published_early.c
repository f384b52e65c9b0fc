// A pointer is stored before the object behind it is complete.
#include "planted.h"

struct Settings {
  volatile int width, height;
};
static struct Settings storage;
static struct Settings* volatile settings;

static void* publish(void* unused) {
  BUG(settings = &storage;)
  storage.width = 3;
  storage.height = 4;
  FIX(settings = &storage;)
  return unused;
}

static void* read_settings(void* unused) {
  struct Settings* const now = settings;
  if (now) REQUIRE(now->width == 3 && now->height == 4);
  return unused;
}

int main(void) {
  RUN(publish, read_settings);
  return 0;
}
