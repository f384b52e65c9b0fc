// Sums the cells that are wanted, while another thread changes those that are not; with vectors all are loaded, and masked.
#include "program.h"

enum { kCells = 256, kRounds = 200 };
static int wanted[kCells], cells[kCells];

static void* change(void* unused) {
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 1; i < kCells; i += 2) cells[i] = round;
    if (round % 50 == 0) pause_ms(1);
  }
  return unused;
}

static void* add(void* unused) {
  for (int round = 0; round < kRounds; ++round) {
    int sum = 0;
    for (int i = 0; i < kCells; ++i) {
      if (wanted[i]) sum += cells[i];
    }
    use(sum);
    if (round % 50 == 0) pause_ms(1);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < kCells; i += 2) wanted[i] = 1;
  run_two(change, add);
  return 0;
}
