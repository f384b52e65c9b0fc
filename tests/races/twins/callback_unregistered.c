// A callback is taken out of a table while another thread calls all that are there.
#include "twin.h"

typedef void (*Handler)(long);
static void count(long by) { use(by); }
static Handler handlers[4] = {count, count, count, count};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* call_all(void* unused) {
  for (int i = 0; i < 4; ++i) {
    guard(&mutex);
    const Handler handler = handlers[i];  // RACE
    unguard(&mutex);
    if (handler) handler(i);
  }
  return unused;
}

static void* take_out(void* unused) {
  guard(&mutex);
  handlers[2] = NULL;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(call_all, take_out);
  return 0;
}
