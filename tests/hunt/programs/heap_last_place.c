// The room that is left is looked at in one section and used in the next: two threads take the last
// place, and one writes behind the array.
#include "planted.h"

enum { kRoom = 4 };
static int count = kRoom - 1;
static long* places;

static void* put(void* number) {
  lock();
  const int has_room = count < kRoom;
  BUG(unlock(); lock();)
  if (has_room) places[count++] = (long)number;
  unlock();
  return NULL;
}

int main(void) {
  places = malloc(kRoom * sizeof *places);
  RUN(put, put);
  free(places);
  return 0;
}
