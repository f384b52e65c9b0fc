// A thread asks epoll for what is ready already; another one waits for it.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "twin.h"

static int epoll, event, data;

static void* body(void* unused) {
  struct epoll_event wanted = {.events = EPOLLIN | EPOLLONESHOT};
  if (!RACY) data = 2;
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted) != 0) abort();
  if (RACY) data = 3;  // RACE
  return unused;
}

int main(void) {
  struct epoll_event ready;
  epoll = epoll_create1(0);
  event = eventfd(1, 0);
  pthread_t thread = start(body, NULL);
  if (epoll_wait(epoll, &ready, 1, 2000) != 1) abort();
  use(data);  // RACE
  join(thread);
  return 0;
}
