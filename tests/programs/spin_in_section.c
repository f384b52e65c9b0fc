// A task that holds a mutex hands work to another one and waits for it in a loop, as a BLAS with
// threads does. Its events before that follow one another closely, so the lock comes in a turn that
// is kept; that turn must not last until the loop ends.
#include "program.h"

enum { kRounds = 4, kEvents = 40, kWorkers = 2 };

struct desk {
  _Alignas(64) int asked;
  _Alignas(64) int answered;
  _Alignas(64) long work;
};
static struct desk desks[kWorkers];
static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void wait_for(const int* word, int value) {
  while (__atomic_load_n(word, __ATOMIC_ACQUIRE) != value) __asm__ volatile("nop\n\tnop\n\tnop");
}

static void* serve(void* desk) {
  struct desk* mine = desk;
  for (int i = 1; i <= kRounds; i++) {
    wait_for(&mine->asked, i);
    mine->work = mine->work * 3 + i;
    __atomic_store_n(&mine->answered, i, __ATOMIC_RELEASE);
  }
  return NULL;
}

static void small_events(void) {
  for (int i = 0; i < kEvents; i++) {
    CHECK_EQ(pthread_mutex_lock(&other), 0);
    CHECK_EQ(pthread_mutex_unlock(&other), 0);
    __atomic_fetch_add(&desks[0].work, 0, __ATOMIC_SEQ_CST);
  }
}

int main(void) {
  pthread_t workers[kWorkers];
  for (int w = 0; w < kWorkers; w++)
    CHECK_EQ(pthread_create(&workers[w], NULL, serve, &desks[w]), 0);
  for (int i = 1; i <= kRounds; i++) {
    small_events();
    CHECK_EQ(pthread_mutex_lock(&held), 0);
    for (int w = 0; w < kWorkers; w++) __atomic_store_n(&desks[w].asked, i, __ATOMIC_RELEASE);
    for (int w = 0; w < kWorkers; w++) wait_for(&desks[w].answered, i);
    CHECK_EQ(pthread_mutex_unlock(&held), 0);
  }
  for (int w = 0; w < kWorkers; w++) CHECK_EQ(pthread_join(workers[w], NULL), 0);
  printf("%ld %ld\n", desks[0].work, desks[1].work);
  return 0;
}
