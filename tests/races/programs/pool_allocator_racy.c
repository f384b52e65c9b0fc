// A custom pool gives out cells without any lock; at worst both threads get the same cell.
#include "program.h"

struct Cell {
  struct Cell* next;
  long value;
} cells[16];
struct Cell* free_list;
static struct Cell* take(void) {
  struct Cell* cell = free_list;         // RACE
  free_list = cell ? cell->next : NULL;  // RACE
  return cell;
}

static void give(struct Cell* cell) {
  cell->next = free_list;  // RACE
  free_list = cell;        // RACE
}

static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    struct Cell* cell = take();
    if (!cell) continue;
    cell->value += i;  // RACE
    give(cell);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 16; ++i) give(&cells[i]);
  run_two(body, body);
  return 0;
}
