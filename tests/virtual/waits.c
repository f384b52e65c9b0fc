// Waits with a limit that another thread ends: at epoll, poll, select, a timer, a semaphore's
// futex. Before each the threads make many events close together, so that the runtime moves them
// between processes (--order token). Each wait's limit is a minute; none may take that long.

#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { kRounds = 10, kMinute = 60 };
enum { kEpoll, kPoll, kPpoll, kSelect, kLongSelect, kRelativeFutex, kAbsoluteFutex, kKinds };

static atomic_int events, turn, word;
static int event_fds[kKinds];  // of each kind of wait its own
static int event_fd, epoll_fd, far_fd;

static void check(int holds, const char* what) {
  if (holds) return;
  printf("failed: %s\n", what);
  exit(1);
}

static void many_events(void) {
  for (int i = 0; i < 50; i++) atomic_fetch_add(&events, 1);
}

static void sleep_for(long nanoseconds) {
  const struct timespec time = {0, nanoseconds};
  nanosleep(&time, NULL);
}

static int by_epoll(void) {
  struct epoll_event event;
  return epoll_wait(epoll_fd, &event, 1, kMinute * 1000);
}

static int by_poll(void) {
  struct pollfd polled = {event_fd, POLLIN, 0};
  return poll(&polled, 1, kMinute * 1000);
}

static int by_ppoll(void) {
  struct pollfd polled = {event_fd, POLLIN, 0};
  const struct timespec limit = {kMinute, 0};
  return ppoll(&polled, 1, &limit, NULL);
}

static int by_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(event_fd, &set);
  struct timeval limit = {kMinute, 0};
  return select(event_fd + 1, &set, NULL, NULL, &limit);
}

// The sets are longer than usual ones.
static int by_long_select(void) {
  static uint64_t set[4096 / 64];
  for (int i = 0; i < 4096 / 64; i++) set[i] = 0;
  set[far_fd / 64] = 1ull << far_fd % 64;
  struct timespec limit = {kMinute, 0};
  return syscall(SYS_pselect6, far_fd + 1, set, NULL, NULL, &limit, NULL);
}

static int by_relative_futex(void) {
  const struct timespec limit = {kMinute, 0};
  while (atomic_load(&word) == 0) {
    if (syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &limit, NULL, 0) && errno == ETIMEDOUT)
      return 0;
  }
  return 1;
}

static int by_absolute_futex(void) {
  struct timespec limit;
  clock_gettime(CLOCK_MONOTONIC, &limit);
  limit.tv_sec += kMinute;
  while (atomic_load(&word) == 0) {
    if (syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, 0, &limit, NULL,
                FUTEX_BITSET_MATCH_ANY) &&
        errno == ETIMEDOUT)
      return 0;
  }
  return 1;
}

static int (*const kWaits[kKinds])(void) = {
    [kEpoll] = by_epoll,
    [kPoll] = by_poll,
    [kPpoll] = by_ppoll,
    [kSelect] = by_select,
    [kLongSelect] = by_long_select,
    [kRelativeFutex] = by_relative_futex,
    [kAbsoluteFutex] = by_absolute_futex,
};

static void* wakes(void* unused) {
  for (int i = 0; i < kRounds * kKinds; i++) {
    while (atomic_load(&turn) != i + 1) sleep_for(20000);
    many_events();
    sleep_for(1000000);
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    const uint64_t one = 1;
    check(write(event_fds[i % kKinds], &one, sizeof one) == sizeof one, "write");
  }
  return unused;
}

// A wait of its own that nothing ends but its limit: as long on the program's clock, and at once.
static void wait_for_timers(void) {
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  const int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  const struct itimerspec soon = {{0, 0}, {0, 2000000}};
  for (int i = 0; i < 5; i++) {
    uint64_t expired = 0;
    many_events();
    check(timerfd_settime(timer, 0, &soon, NULL) == 0, "timerfd_settime");
    struct pollfd polled = {timer, POLLIN, 0};
    check(poll(&polled, 1, kMinute * 1000) == 1, "poll of a timer");
    check(read(timer, &expired, sizeof expired) == sizeof expired && expired >= 1, "timer");
    many_events();
    check(poll(NULL, 0, 3) == 0, "poll for a time");
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    at.tv_nsec += 20000000;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    check(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL) == 0, "clock_nanosleep");
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  const long passed =
      (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
  check(passed >= 5 * (3 + 20) && passed < kMinute * 1000, "the time that passed");
  close(timer);
}

int main(void) {
  for (int i = 0; i < kKinds; i++) check((event_fds[i] = eventfd(0, 0)) >= 0, "eventfd");
  far_fd = event_fds[kLongSelect] = dup2(event_fds[kLongSelect], 600);
  epoll_fd = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  check(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fds[kEpoll], &event) == 0, "epoll_ctl");
  pthread_t thread;
  pthread_create(&thread, NULL, wakes, NULL);
  for (int i = 0; i < kRounds * kKinds; i++) {
    many_events();
    atomic_store(&word, 0);
    event_fd = event_fds[i % kKinds];
    atomic_store(&turn, i + 1);
    many_events();
    const int result = kWaits[i % kKinds]();
    if (result != 1) printf("wait %d of round %d: %d\n", i % kKinds, i / kKinds, result);
    uint64_t count;
    check(read(event_fd, &count, sizeof count) == sizeof count && count == 1, "read");
  }
  pthread_join(thread, NULL);
  wait_for_timers();
  printf("waits %d\n", kRounds * kKinds);
  return 0;
}
