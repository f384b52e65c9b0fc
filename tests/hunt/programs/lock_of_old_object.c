// The lock is the current object's own. After an exchange of the object two threads hold different
// locks for the same counter.
#include "planted.h"

struct Part {
  pthread_mutex_t lock;
};
static struct Part parts[2] = {{PTHREAD_MUTEX_INITIALIZER}, {PTHREAD_MUTEX_INITIALIZER}};
static struct Part* current = &parts[0];
static int counter, inside;

static void* count(void* unused) {
  for (int i = 0; i < 2; i++) {
    struct Part* const part = FIX(&parts[0]) BUG(__atomic_load_n(&current, __ATOMIC_SEQ_CST));
    pthread_mutex_lock(&part->lock);
    REQUIRE(__atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST) == 1);
    __atomic_store_n(&counter, __atomic_load_n(&counter, __ATOMIC_SEQ_CST) + 1, __ATOMIC_SEQ_CST);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&part->lock);
  }
  return unused;
}

static void* exchange(void* unused) {
  __atomic_store_n(&current, &parts[1], __ATOMIC_SEQ_CST);
  return unused;
}

int main(void) {
  RUN(count, exchange, count, count);
  REQUIRE(counter == 6);
  return 0;
}
