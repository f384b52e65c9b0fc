// pthread_kill runs the handler in exactly the thread that it names, in a loop, in a sleep or in a
// blocked read. A signal that comes before the thread has gone to sleep does not end the sleep:
// main sends another where the handler has run and the thread goes on sleeping. A handler that
// never runs is not made up for.
#include "program.h"

static __thread volatile sig_atomic_t hits;
static volatile int hit_by[3];
static __thread volatile int* handled;  // where this thread's handler counts its runs for main
static volatile int begun;
static volatile int handled_by[3];
static int ends[2];

static void on_signal(int number) {
  (void)number, ++hits;
  if (handled) __atomic_add_fetch(handled, 1, __ATOMIC_SEQ_CST);
}

static void begin(int i) {
  handled = &handled_by[i];
  __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
}

static void* in_loop(void* unused) {
  begin(0);
  while (!hits) sched_yield();
  hit_by[0] = hits;
  return unused;
}
static void* in_sleep(void* unused) {
  struct timespec left = {0}, minute = {60, 0};
  begin(1);
  while (!hits) CHECK(nanosleep(&minute, &left) == -1 && errno == EINTR);
  CHECK(left.tv_sec <= 60);
  hit_by[1] = hits;
  return unused;
}
static void* in_read(void* unused) {
  char byte;
  begin(2);
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  hit_by[2] = hits;
  return unused;
}

static void kill_until_left(int i, pthread_t thread) {
  int sent = 0;
  do {
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    for (++sent; handled_by[i] < sent && !hit_by[i];) sleep_ms(1);
    for (int waits = 0; !hit_by[i] && waits < 200; ++waits) sleep_ms(1);
  } while (!hit_by[i]);
}

int main(void) {
  void* (*const bodies[])(void*) = {in_loop, in_sleep, in_read};
  pthread_t threads[3];
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pipe(ends), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
  while (begun < 3) sleep_ms(1);
  sleep_ms(30);
  CHECK_EQ(pthread_kill(threads[0], 0), 0);
  CHECK_EQ(pthread_kill(threads[0], 12345), EINVAL);
  for (int i = 0; i < 3; ++i) kill_until_left(i, threads[i]);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 3; ++i) CHECK(hit_by[i] >= 1 && hit_by[i] <= handled_by[i]);
  CHECK_EQ(hits, 0);
  CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(hits, 1);
  puts("each handler in its thread");
  return 0;
}
