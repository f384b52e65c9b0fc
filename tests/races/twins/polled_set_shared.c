// poll() reads what is watched while another thread adds to it.
#include <poll.h>

#include "twin.h"

static struct pollfd watched[2] = {{.fd = -1}, {.fd = -1}};
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* look(void* unused) {
  guard(&mutex);
  if (poll(watched, 2, 0) < 0) abort();  // RACE
  unguard(&mutex);
  return unused;
}

static void* add(void* unused) {
  guard(&mutex);
  watched[1].events = POLLIN;  // RACE
  unguard(&mutex);
  return unused;
}

int main(void) {
  run_two(look, add);
  return 0;
}
