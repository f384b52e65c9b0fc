// One epoll watches two eventfds. The state is set between the two.
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "program.h"

int first, second, watch, state;

static void* teller(void* unused) {
  eventfd_write(first, 1);
  state = 5;  // RACE
  eventfd_write(second, 1);
  return unused;
}

static void* listener(void* unused) {
  struct epoll_event event;
  pause_ms(30);
  if (epoll_wait(watch, &event, 1, -1) != 1 || event.data.fd != first) abort();
  use(state);  // RACE
  return unused;
}

int main(void) {
  first = eventfd(0, 0);
  second = eventfd(0, 0);
  watch = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = first}};
  if (epoll_ctl(watch, EPOLL_CTL_ADD, first, &event) != 0) abort();
  run_two(teller, listener);
  return 0;
}
