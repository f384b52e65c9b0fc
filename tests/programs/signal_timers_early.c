// Timers that exist before the first thread are the whole program's: any thread stops, changes,
// reads and deletes them.
#include <sys/time.h>
#include "program.h"

static volatile sig_atomic_t alarms, fired;
static timer_t idle, busy, cpu;

static void on_alarm(int number) { (void)number, ++alarms; }
static void on_timer(int number, siginfo_t* information, void* context) {
  (void)number, (void)context;
  if (information->si_code == SI_TIMER) fired += information->si_value.sival_int;
}

static timer_t make(clockid_t clock, int value) {
  struct sigevent event = {
      .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 1, .sigev_value.sival_int = value};
  timer_t timer;
  CHECK_EQ(timer_create(clock, &event, &timer), 0);
  return timer;
}

static void* works_on_them(void* unused) {
  struct itimerspec once = {{0, 0}, {0, 2000000}}, now;
  struct itimerval left;
  CHECK_EQ(timer_gettime(busy, &now), 0);
  CHECK_EQ(now.it_interval.tv_sec, 1000);
  CHECK(now.it_value.tv_sec > 900);
  CHECK_EQ(timer_settime(busy, 0, &once, &now), 0);
  CHECK_EQ(now.it_interval.tv_sec, 1000);
  while (fired < 5) sleep_ms(1);
  CHECK_EQ(timer_getoverrun(busy), 0);
  CHECK_EQ(timer_delete(busy), 0);
  CHECK_EQ(timer_delete(idle), 0);
  CHECK_EQ(timer_settime(busy, 0, &once, NULL), -1);
  CHECK_EQ(errno, EINVAL);
  CHECK_EQ(getitimer(ITIMER_REAL, &left), 0);
  CHECK(left.it_value.tv_sec > 900);
  CHECK(alarm(0) > 900);
  CHECK_EQ(getitimer(ITIMER_REAL, &left), 0);
  CHECK_EQ(left.it_value.tv_sec, 0);
  idle = make(CLOCK_REALTIME, 100);
  cpu = make(CLOCK_PROCESS_CPUTIME_ID, 20);
  CHECK_EQ(timer_settime(cpu, 0, &once, NULL), 0);
  while (fired < 25) {
    for (volatile int i = 0; i < 100000; ++i) {}
    sched_yield();
  }
  return unused;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
  struct itimerspec later = {{1000, 0}, {1000, 0}}, once = {{0, 0}, {0, 1000000}};
  struct itimerval soon = {{0, 0}, {0, 1000}};
  pthread_t thread;
  CHECK_EQ(sigaction(SIGALRM, &action, NULL), 0);
  action.sa_sigaction = on_timer;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  CHECK_EQ(sigaction(SIGRTMIN + 1, &action, NULL), 0);
  idle = make(CLOCK_MONOTONIC, 3);
  busy = make(CLOCK_MONOTONIC, 5);
  CHECK_EQ(timer_settime(busy, 0, &later, NULL), 0);
  CHECK_EQ(alarm(1000), 0);
  CHECK_EQ(pthread_create(&thread, NULL, works_on_them, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);

  // Made by a thread that has ended.
  CHECK_EQ(timer_settime(idle, 0, &once, NULL), 0);
  while (fired < 125) sleep_ms(1);
  CHECK_EQ(timer_delete(idle), 0);
  CHECK_EQ(timer_delete(cpu), 0);
  CHECK_EQ(alarms, 0);
  CHECK_EQ(setitimer(ITIMER_REAL, &soon, NULL), 0);
  while (alarms < 1) sleep_ms(1);
  printf("%d %d\n", (int)fired, (int)alarms);
  return 0;
}
