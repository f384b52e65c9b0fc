// eventfd, timerfd, signalfd and epoll wake the threads that wait for them, with the counts that
// were given.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include "program.h"

static int queue, counter, timer, signals;

static void* posts(void* unused) {
  for (uint64_t i = 1; i <= 20; ++i) CHECK_EQ(write(counter, &i, sizeof i), sizeof i);
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  return unused;
}

int main(void) {
  struct itimerspec once = {{0, 0}, {0, 5000000}};
  struct epoll_event events[4];
  sigset_t set;
  pthread_t thread;
  uint64_t sum = 0, value, expirations = 0;
  int signalled = 0;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK((queue = epoll_create1(EPOLL_CLOEXEC)) >= 0);
  CHECK((counter = eventfd(0, 0)) >= 0);
  CHECK((timer = timerfd_create(CLOCK_MONOTONIC, 0)) >= 0);
  CHECK((signals = signalfd(-1, &set, 0)) >= 0);
  for (int i = 0; i < 3; ++i) {
    int descriptors[] = {counter, timer, signals};
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptors[i]};
    CHECK_EQ(epoll_ctl(queue, EPOLL_CTL_ADD, descriptors[i], &event), 0);
  }
  CHECK_EQ(epoll_wait(queue, events, 4, 5), 0);
  CHECK_EQ(timerfd_settime(timer, 0, &once, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, posts, NULL), 0);
  while (sum < 210 || expirations == 0 || !signalled) {
    int count = epoll_wait(queue, events, 4, -1);
    CHECK(count > 0);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.fd == signals) {
        struct signalfd_siginfo information;
        CHECK_EQ(read(signals, &information, sizeof information), sizeof information);
        CHECK_EQ(information.ssi_signo, SIGUSR1);
        signalled = 1;
        continue;
      }
      CHECK_EQ(read(events[i].data.fd, &value, sizeof value), sizeof value);
      *(events[i].data.fd == counter ? &sum : &expirations) += value;
    }
  }
  CHECK_EQ(sum, 210);
  CHECK_EQ(expirations, 1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  printf("sum %d\n", (int)sum);
  return 0;
}
