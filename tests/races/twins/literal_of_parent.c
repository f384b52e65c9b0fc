// A compound literal on main's stack is what two threads get.
#include "twin.h"

struct point {
  int x, y;
};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* body(void* argument) {
  struct point* point = argument;
  guard(&mutex);
  point->x += 1;  // RACE
  unguard(&mutex);
  return NULL;
}

int main(void) {
  struct point* point = &(struct point){1, 2};
  pthread_t one = start(body, point), two = start(body, point);
  join(one);
  join(two);
  use(point->x);
  return 0;
}
