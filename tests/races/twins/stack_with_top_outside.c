// A stack's places are locked, but whether there are any is asked before.
#include "twin.h"

static int places[16], top;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* push(void* unused) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_lock(&mutex);
    places[top++] = i;  // RACE
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

static void* pop(void* unused) {
  for (int i = 0; i < 10; ++i) {
    if (RACY && top == 0) {  // RACE
      usleep(150);
      continue;
    }
    pthread_mutex_lock(&mutex);
    if (top > 0) use(places[--top]);  // RACE
    pthread_mutex_unlock(&mutex);
    usleep(100);
  }
  return unused;
}

int main(void) {
  run_two(push, pop);
  return 0;
}
