// Bodies go into a tree: an empty child is seen without the cell's lock, and filled with it.
#include "planted.h"

struct Cell {
  struct Cell* child[2];
  int body;
};
static struct Cell cells[16], root;
static int used;

static void insert(int body) {
  struct Cell* at = &root;
  for (int bit = 0; bit < 4; bit++) {
    struct Cell** const child = &at->child[body >> bit & 1];
    FIX(lock();)
    struct Cell* next = __atomic_load_n(child, __ATOMIC_SEQ_CST);
    if (!next) {
      BUG(lock();)
      next = &cells[used++];
      __atomic_store_n(child, next, __ATOMIC_SEQ_CST);
      BUG(unlock();)
    }
    FIX(unlock();)
    at = next;
  }
  __atomic_store_n(&at->body, body + 1, __ATOMIC_SEQ_CST);
}

static void* fill(void* number) {
  insert((int)(long)number);
  return NULL;
}

int main(void) {
  RUN(fill, fill, fill);
  for (int body = 0; body < 3; body++) {
    struct Cell* at = &root;
    for (int bit = 0; at && bit < 4; bit++) at = at->child[body >> bit & 1];
    REQUIRE(at && at->body == body + 1);
  }
  return 0;
}
