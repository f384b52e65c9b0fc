// setitimer, alarm and timer_create fire while threads sleep, and their signals reach handlers and
// waiting threads.
#include <sys/time.h>
#include "program.h"

static volatile sig_atomic_t alarms, timers;

static void on_alarm(int number) { (void)number, ++alarms; }
static void on_timer(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  timers += information->si_value.sival_int;
}

static void* waits(void* unused) {
  while (alarms < 3) sleep_ms(1);
  while (timers < 14) sleep_ms(1);
  return unused;
}

static void on_expiry(union sigval value) { CHECK_EQ(sem_post((sem_t*)value.sival_ptr), 0); }

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerval every = {{0, 5000}, {0, 5000}}, off = {{0, 0}, {0, 0}};
  pthread_t thread;
  timer_t timer;
  sem_t expired;
  CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
  action.sa_sigaction = on_timer;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK_EQ(sigaction(SIGRTMIN, &action, NULL), 0);
  CHECK_EQ(pthread_create(&thread, NULL, waits, NULL), 0);
  CHECK_EQ(setitimer(ITIMER_REAL, &every, NULL), 0);
  while (alarms < 3) pause();
  CHECK_EQ(setitimer(ITIMER_REAL, &off, &every), 0);
  CHECK_EQ(every.it_interval.tv_usec, 5000);

  struct sigevent event = {
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN, .sigev_value.sival_int = 7};
  struct itimerspec once = {{0, 0}, {0, 3000000}};
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  for (int fired = 0; fired < 2; ++fired) {
    CHECK_EQ(timer_settime(timer, 0, &once, NULL), 0);
    while (timers < 7 * (fired + 1)) sleep_ms(1);
  }
  CHECK_EQ(timer_delete(timer), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  CHECK_EQ(sem_init(&expired, 0, 0), 0);
  struct sigevent in_thread = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_expiry};
  in_thread.sigev_value.sival_ptr = &expired;
  CHECK_EQ(timer_create(CLOCK_MONOTONIC, &in_thread, &timer), 0);
  CHECK_EQ(timer_settime(timer, 0, &once, NULL), 0);
  while (sem_wait(&expired) == -1) CHECK_EQ(errno, EINTR);
  CHECK_EQ(timer_delete(timer), 0);
  CHECK_EQ(timers, 14);
  puts("timers fired");
  return 0;
}
