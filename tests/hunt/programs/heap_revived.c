// A lookup takes a reference of an object whose last one has just gone: it is freed all the same.
#include "planted.h"

struct Key {
  int references, value;
};
static struct Key* table;

static void put(struct Key* key) {
  FIX(lock();)
  if (__atomic_sub_fetch(&key->references, 1, __ATOMIC_SEQ_CST) == 0) {
    BUG(lock();)
    if (table == key) table = NULL;
    BUG(unlock();)
    free(key);
  }
  FIX(unlock();)
}

static void* look_up(void* unused) {
  lock();
  struct Key* const key = table;
  if (key) __atomic_add_fetch(&key->references, 1, __ATOMIC_SEQ_CST);
  unlock();
  if (!key) return unused;
  REQUIRE(key->value == 9);
  put(key);
  return unused;
}

static void* withdraw(void* unused) {
  lock();
  struct Key* const key = table;
  unlock();
  put(key);
  return unused;
}

int main(void) {
  table = malloc(sizeof *table);
  table->references = 1;
  table->value = 9;
  RUN(withdraw, look_up);
  return 0;
}
