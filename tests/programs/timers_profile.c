// Timers of a profiler, on the program's CPU time: set before the threads or by one of them, they
// find each thread that computes, and nobody once they are taken back.
#include <sys/time.h>

#include "program.h"

enum { kThreads = 3, kSamples = 5 };

static __thread volatile sig_atomic_t g_samples;

static void on_sample(int number) {
  (void)number;
  g_samples++;
}

static void set(int which, long microseconds) {
  struct itimerval times = {{0, microseconds}, {0, microseconds}}, now;
  CHECK_EQ(setitimer(which, &times, NULL), 0);
  CHECK_EQ(getitimer(which, &now), 0);
  CHECK_EQ(now.it_interval.tv_usec, microseconds);
}

static void computes(void) {
  volatile long sum = 0;
  for (int i = 0; i < 200000; ++i) sum = sum + i;
  sched_yield();
}

static double cpu_seconds(void) {
  struct timespec now;
  CHECK_EQ(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void* is_sampled(void* unused) {
  const double start = cpu_seconds();
  g_samples = 0;
  while (g_samples < kSamples && cpu_seconds() < start + 10) computes();
  CHECK(g_samples >= kSamples);
  return unused;
}

static void* is_left_alone(void* unused) {
  const double start = cpu_seconds();
  computes();
  g_samples = 0;
  while (cpu_seconds() < start + 0.1) computes();
  CHECK_EQ(g_samples, 0);
  return unused;
}

static void* sets(void* which) {
  set((int)(intptr_t)which, 4000);
  return is_sampled(NULL);
}

int main(void) {
  const int kinds[] = {ITIMER_PROF, ITIMER_VIRTUAL};
  struct sigaction action = {.sa_handler = on_sample, .sa_flags = SA_RESTART};
  CHECK_EQ(sigaction(SIGPROF, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGVTALRM, &action, NULL), 0);
  set(kinds[0], 4000);
  is_sampled(NULL);
  run_threads(kThreads, is_sampled);
  is_sampled(NULL);
  set(kinds[0], 0);
  run_threads(kThreads, is_left_alone);
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    CHECK_EQ(pthread_create(&thread, NULL, sets, (void*)(intptr_t)kinds[i]), 0);
    CHECK_EQ(pthread_join(thread, NULL), 0);
    run_threads(kThreads, is_sampled);
    is_sampled(NULL);
    set(kinds[i], 0);
    run_threads(kThreads, is_left_alone);
  }
  puts("sampled");
  return 0;
}
