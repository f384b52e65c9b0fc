// A custom pool gives out cells under a lock: a cell that comes back is another thread's next.
#include "program.h"

struct Cell {
  struct Cell* next;
  long value;
} cells[16];
struct Cell* free_list;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct Cell* take(void) {
  pthread_mutex_lock(&mutex);
  struct Cell* cell = free_list;
  free_list = cell ? cell->next : NULL;
  pthread_mutex_unlock(&mutex);
  return cell;
}

static void give(struct Cell* cell) {
  pthread_mutex_lock(&mutex);
  cell->next = free_list;
  free_list = cell;
  pthread_mutex_unlock(&mutex);
}

static void* body(void* unused) {
  for (int i = 0; i < 100; ++i) {
    struct Cell* cell = take();
    if (!cell) continue;
    cell->value += i;
    give(cell);
  }
  return unused;
}

int main(void) {
  for (int i = 0; i < 16; ++i) give(&cells[i]);
  run_two(body, body);
  return 0;
}
