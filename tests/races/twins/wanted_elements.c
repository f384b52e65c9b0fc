// Elements that are wanted are added up, by vectors and masks; the racy writer changes one of them.
#include "twin.h"

enum { kCells = 128 };
static int wanted[kCells], cells[kCells];

static void* change(void* unused) {
  for (int round = 0; round < 20; ++round) {
    for (int i = RACY ? 0 : 1; i < kCells; i += 2) cells[i] = round;  // RACE
    use(round);
  }
  return unused;
}

static void* add(void* unused) {
  for (int round = 0; round < 20; ++round) {
    int sum = 0;
    for (int i = 0; i < kCells; ++i) {
      if (wanted[i]) sum += cells[i];  // RACE
    }
    use(sum);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < kCells; i += 2) wanted[i] = 1;
  run_two(change, add);
  return 0;
}
