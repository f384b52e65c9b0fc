// Objects of threads add what they have counted to a total when their threads end.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
int total;

struct Counter {
  int value = 0;
  ~Counter() {
    guard(&mutex);
    total += value;  // RACE
    unguard(&mutex);
  }
};

static thread_local Counter counter;

static void* body(void* unused) {
  counter.value++;
  return unused;
}

int main() {
  run_two(body, body);
  return !RACY && total != 2;
}
