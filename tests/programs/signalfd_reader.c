// A signalfd is read by another thread than the one that has made it, and then by a third one. The
// signals come before that thread reads, and while it waits: in read(), in poll() and in
// epoll_wait().
#include <poll.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>

#include "program.h"

static int g_signals, g_done[2], g_value;
static sem_t g_read;

static void read_one(const char* how) {
  struct signalfd_siginfo information;
  CHECK_EQ(read(g_signals, &information, sizeof information), (ssize_t)sizeof information);
  printf("%s: signal %s, value %d\n", how, information.ssi_signo == SIGUSR1 ? "USR1" : "RTMIN",
         information.ssi_signo == SIGUSR1 ? g_value : information.ssi_int);
  fflush(stdout);
  CHECK_EQ(sem_post(&g_read), 0);
}

static void* reader(void* unused) {
  read_one("read");
  read_one("read");
  struct pollfd both[2] = {{g_done[0], POLLIN, 0}, {g_signals, POLLIN, 0}};
  CHECK_EQ(poll(both, 2, -1), 1);
  CHECK(both[1].revents & POLLIN);
  read_one("poll");
  return unused;
}

static void* watcher(void* unused) {
  const int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(set >= 0);
  CHECK_EQ(epoll_ctl(set, EPOLL_CTL_ADD, g_signals, &event), 0);
  CHECK_EQ(epoll_wait(set, &event, 1, -1), 1);
  read_one("epoll");
  close(set);
  return unused;
}

static void send_value(int value) {
  g_value = value;
  const union sigval sent = {.sival_int = value};
  CHECK_EQ(sigqueue(getpid(), SIGRTMIN, sent), 0);
}

static void wait_for_reader(void) { CHECK_EQ(sem_wait(&g_read), 0); }

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGRTMIN);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK((g_signals = signalfd(-1, &set, 0)) >= 0);
  CHECK_EQ(pipe(g_done), 0);
  CHECK_EQ(sem_init(&g_read, 0, 0), 0);
  pthread_t thread;
  CHECK_EQ(pthread_create(&thread, NULL, reader, NULL), 0);
  send_value(1);
  wait_for_reader();
  usleep(20000);
  g_value = 2;
  CHECK_EQ(kill(getpid(), SIGUSR1), 0);
  wait_for_reader();
  usleep(20000);
  send_value(3);
  wait_for_reader();
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, watcher, NULL), 0);
  usleep(20000);
  send_value(4);
  wait_for_reader();
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
