#include "threads.h"
/* Who has given back what changes hands often has it no more, with no lock or event between. */
static int *object, *kept, seen;
static void *hand_on(void *argument) {
  int i;
  for (i = 0; i < 50; i++) {
    weir_acquire_write(object);
    ++*object;
    weir_release_write(object);
    weir_acquire_write(kept);
    weir_release_write(kept);
  }
  return argument;
}
static void *release(void *argument) {
  weir_acquire_write(object);
  *object = 7;
  weir_release_write(object);  /* IS released */
  *object = 8;  /* REPORT policy forbidden access OTHER released */
  return argument;
}
static void *read_only(void *argument) {
  weir_acquire_read(object);  /* IS read */
  seen = *object;
  *object = 9;  /* REPORT policy forbidden access OTHER read */
  weir_release_read(object);
  return argument;
}
static void *keep(void *argument) {
  weir_acquire_write(kept);  /* IS kept */
  *kept = 3;
  return argument;
}
static void *take(void *argument) {
  seen += *(volatile int *)kept;  /* REPORT policy forbidden access OTHER kept */
  return argument;
}
int main(void) {
  int i;
  object = (int *)weir_alloc(sizeof *object, WEIR_PRIVATE);
  kept = (int *)weir_alloc(sizeof *kept, WEIR_PRIVATE);
  *object = 0;
  weir_release_write(object);
  weir_release_write(kept);
  for (i = 0; i < 3; i++) alone(hand_on, NULL);
  alone(release, NULL);
  alone(read_only, NULL);
  /* The next one has the first one's place among the tasks. */
  alone(keep, NULL);
  alone(take, NULL);
  return seen == 11 ? ok() : 1;
}
