// A ring with places and a count; the sender forgets the lock around the count.
#include "twin.h"

static struct {
  int places[4], first, count;
} buffer;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* send_all(void* unused) {
  for (int i = 0; i < 20; ++i) {
    guard(&mutex);
    if (buffer.count < 4) {                                     // RACE
      buffer.places[(buffer.first + buffer.count) % 4] = i;     // RACE
      buffer.count++;                                           // RACE
    }
    unguard(&mutex);
  }
  return unused;
}

static void* take_all(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    if (buffer.count > 0) {             // RACE
      use(buffer.places[buffer.first]);  // RACE
      buffer.first = (buffer.first + 1) % 4;  // RACE
      buffer.count--;                    // RACE
    }
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  run_two(send_all, take_all);
  return 0;
}
