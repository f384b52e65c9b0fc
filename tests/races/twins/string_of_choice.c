// One of two letters is chosen by a condition; only one of them is shared.
#include "twin.h"

static char names[2][8] = {"own", "shared"};
static int which = RACY, seen;

static void* body(void* unused) {
  char letter = names[0][0];
  if (which) letter = names[1][0];  // RACE
  seen = letter;
  return unused;
}

int main(void) {
  pthread_t one = start(body, NULL);
  names[1][0] = 'S';  // RACE
  join(one);
  use(seen);
  return 0;
}
