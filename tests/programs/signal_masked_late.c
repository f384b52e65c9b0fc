// A signal to the program comes while every thread keeps it out: one by its mask, one only as long
// as a handler runs. The end of the handler lets it through.
#include "program.h"

static volatile sig_atomic_t handled, late;

static void on_late(int number) { (void)number, ++late; }
static void on_first(int number) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
  struct itimerspec soon = {{0, 0}, {0, 2000000}};
  timer_t timer;
  (void)number;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  CHECK_EQ(timer_settime(timer, 0, &soon, NULL), 0);
  struct timespec now, begin;
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &begin), 0);
  do {
    sleep_ms(1);
    CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &now), 0);
  } while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < 60);
  CHECK_EQ(late, 0);
  ++handled;
}

static void* waits(void* unused) {
  while (!late) sleep_ms(1);
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_late};
  pthread_t thread;
  sigset_t set;
  CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  action.sa_handler = on_first;
  sigaddset(&action.sa_mask, SIGUSR2);
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  CHECK_EQ(pthread_sigmask(SIG_BLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, waits, NULL), 0);
  CHECK_EQ(pthread_sigmask(SIG_UNBLOCK, &set, NULL), 0);
  CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(handled, 1);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  CHECK_EQ(late, 1);
  puts("passed");
  return 0;
}
