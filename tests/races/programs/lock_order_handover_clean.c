// Three threads, two locks: all of them hold the first lock, some of them the second as well.
#include "program.h"

pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int item;
static void with(pthread_mutex_t* outer, pthread_mutex_t* inner) {
  for (int i = 0; i < 50; ++i) {
    pthread_mutex_lock(outer);
    if (inner) pthread_mutex_lock(inner);
    item += i;
    if (inner) pthread_mutex_unlock(inner);
    pthread_mutex_unlock(outer);
  }
}

static void* one(void* unused) { return with(&first, NULL), unused; }
static void* two(void* unused) { return with(&first, &second), unused; }
static void* three(void* unused) { return with(&first, NULL), unused; }

int main(void) {
  pthread_t last = start(three, NULL);
  run_two(one, two);
  join(last);
  return item == 0;
}
