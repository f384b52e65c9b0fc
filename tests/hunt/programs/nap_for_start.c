// The main thread sleeps a while, and believes that the server has started.
#include "planted.h"

static int is_ready;

static void* serve(void* unused) {
  usleep(100);
  lock();
  is_ready = 1;
  unlock();
  return unused;
}

int main(void) {
  pthread_t server;
  pthread_create(&server, NULL, serve, NULL);
  usleep(50000);
  FIX(for (;;) {
    lock();
    const int ready = is_ready;
    unlock();
    if (ready) break;
    usleep(100);
  })
  lock();
  const int ready = is_ready;
  unlock();
  REQUIRE(ready);
  pthread_join(server, NULL);
  return 0;
}
