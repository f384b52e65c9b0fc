// A generation is computed in rows; the racy one reads the neighbours' row while it is written.
#include "twin.h"

enum { kRows = 8, kColumns = 16 };
static int cells[2][kRows][kColumns];

static void* body(void* number) {
  const long me = (long)number;
  for (int row = (int)me * kRows / 2; row < (int)(me + 1) * kRows / 2; ++row) {
    for (int i = 1; i + 1 < kColumns; ++i) {
      const int above = (row + kRows - 1) % kRows, below = (row + 1) % kRows;
      const int sum = cells[0][above][i] + cells[0][below][i] + cells[0][row][i - 1];  // RACE
      cells[RACY ? 0 : 1][row][i] = sum & 3;                                          // RACE
    }
  }
  return NULL;
}

int main(void) {
  for (int i = 0; i < kColumns; ++i) cells[0][0][i] = i;
  run_threads(2, body);
  use(cells[1][1][1] + cells[0][1][1]);
  return 0;
}
