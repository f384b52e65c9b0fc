// Rows are eliminated once their pivot row is done, by a flag for each row. The flag of the second
// row is set before its last column.
#include "planted.h"

enum { kRows = 3 };
static int matrix[kRows][kRows], is_done[kRows];

static void finish(int row) {
  for (int column = 0; column < kRows; column++) {
    BUG(if (row == 1 && column == kRows - 1) __atomic_store_n(&is_done[row], 1, __ATOMIC_SEQ_CST);)
    __atomic_store_n(&matrix[row][column], row + 1, __ATOMIC_SEQ_CST);
  }
  __atomic_store_n(&is_done[row], 1, __ATOMIC_SEQ_CST);
}

static void* eliminate(void* number) {
  const int row = (int)(long)number;
  for (int before = 0; before < row; before++) {
    while (!__atomic_load_n(&is_done[before], __ATOMIC_SEQ_CST)) {}
    for (int column = 0; column < kRows; column++)
      REQUIRE(__atomic_load_n(&matrix[before][column], __ATOMIC_SEQ_CST) == before + 1);
  }
  finish(row);
  return NULL;
}

int main(void) {
  run_many(kRows, eliminate, 0, NULL);
  return 0;
}
