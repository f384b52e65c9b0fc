// A state that a mutex and a condition guard is passed on as Python passes on its interpreter: a
// thread gives it up, signals, makes a short call, and takes it again, all without waiting, over
// and over, until another thread has had it so and so often. A thread that is woken must have a
// chance before the state is taken again: a round of the first thread has 50 events, and Weir gave
// others turns after 1,000, which is where the state is taken, each time.
#include <poll.h>

#include "program.h"

enum { kTurns = 600, kCalls = 44 };

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t g_changed = PTHREAD_COND_INITIALIZER;
static int g_taken, g_turns, g_pipe[2];
static long g_rounds;

static void take(void) {
  CHECK_EQ(pthread_mutex_lock(&g_mutex), 0);
  while (g_taken) CHECK_EQ(pthread_cond_wait(&g_changed, &g_mutex), 0);
  g_taken = 1;
  CHECK_EQ(pthread_mutex_unlock(&g_mutex), 0);
}

static void give(void) {
  CHECK_EQ(pthread_mutex_lock(&g_mutex), 0);
  g_taken = 0;
  CHECK_EQ(pthread_cond_signal(&g_changed), 0);
  CHECK_EQ(pthread_mutex_unlock(&g_mutex), 0);
}

// The state guards what it reads.
static void* poller(void* unused) {
  take();
  struct pollfd ready = {g_pipe[0], POLLIN, 0};
  while (g_turns < kTurns) {
    g_rounds++;
    for (int i = 0; i < kCalls; i++) CHECK_EQ(poll(&ready, 1, 0), 1);
    give();
    CHECK_EQ(poll(&ready, 1, -1), 1);
    take();
  }
  give();
  return unused;
}

static void* other(void* unused) {
  for (int i = 0; i < kTurns; i++) {
    take();
    g_turns++;
    give();
  }
  return unused;
}

int main(void) {
  CHECK_EQ(pipe(g_pipe), 0);
  CHECK_EQ(write(g_pipe[1], "x", 1), 1);
  pthread_t first, second;
  CHECK_EQ(pthread_create(&first, NULL, poller, NULL), 0);
  CHECK_EQ(pthread_create(&second, NULL, other, NULL), 0);
  CHECK_EQ(pthread_join(second, NULL), 0);
  CHECK_EQ(pthread_join(first, NULL), 0);
  printf("%d turns, %s\n", g_turns, g_rounds < 20 * kTurns ? "soon" : "late");
  return 0;
}
