// Two threads wait for events into one array.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "twin.h"

static struct epoll_event events[4];
static int epoll;

static void* body(void* unused) {
  struct epoll_event own[4];
  if (epoll_wait(epoll, RACY ? events : own, 4, 1000) != 1) abort();  // RACE
  return unused;
}

int main(void) {
  struct epoll_event wanted = {.events = EPOLLIN};
  epoll = epoll_create1(0);
  if (epoll_ctl(epoll, EPOLL_CTL_ADD, eventfd(1, 0), &wanted) != 0) abort();
  run_threads(2, body);
  return 0;
}
