// pthread_kill runs the handler in exactly the thread that it names, in a loop, in a sleep or in a blocked read.
#include "program.h"

static __thread volatile sig_atomic_t hits;
static volatile sig_atomic_t hit_by[3];
static int ends[2];

static void on_signal(int number) { (void)number, ++hits; }

static void* in_loop(void* unused) {
  while (!hits) sched_yield();
  hit_by[0] = hits;
  return unused;
}
static void* in_sleep(void* unused) {
  struct timespec left, minute = {60, 0};
  while (!hits) CHECK(nanosleep(&minute, &left) == -1 && errno == EINTR);
  CHECK(left.tv_sec <= 60);
  hit_by[1] = hits;
  return unused;
}
static void* in_read(void* unused) {
  char byte;
  CHECK(read(ends[0], &byte, 1) == -1 && errno == EINTR);
  hit_by[2] = hits;
  return unused;
}

int main(void) {
  void* (*const bodies[])(void*) = {in_loop, in_sleep, in_read};
  pthread_t threads[3];
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pipe(ends), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_create(&threads[i], NULL, bodies[i], NULL), 0);
  sleep_ms(30);
  CHECK_EQ(pthread_kill(threads[0], 0), 0);
  CHECK_EQ(pthread_kill(threads[0], 12345), EINVAL);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_kill(threads[i], SIGUSR1), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  for (int i = 0; i < 3; ++i) CHECK_EQ(hit_by[i], 1);
  CHECK_EQ(hits, 0);
  CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
  CHECK_EQ(hits, 1);
  puts("each handler in its thread");
  return 0;
}
