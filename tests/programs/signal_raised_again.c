// A handler raises its own signal, which waits until it returns and comes then, before the
// interrupted code goes on: alone, beside a thread, and in one. With SA_NODEFER it comes at once.
#include "program.h"

static __thread volatile int depth, deepest, count;

static void on_signal(int signal) {
  if (++depth > deepest) deepest = depth;
  if (++count < 5) CHECK_EQ(raise(signal), 0);
  --depth;
}

static void expect(int flags, int how_deep) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  depth = deepest = count = 0;
  CHECK_EQ(raise(SIGUSR1), 0);
  CHECK_EQ(count, 5);
  CHECK_EQ(deepest, how_deep);
}

static void* body(void* unused) {
  for (int i = 0; i < 20; ++i) {
    expect(0, 1);
    expect(SA_NODEFER, 5);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  body(NULL);
  CHECK_EQ(pthread_create(&thread, NULL, body, NULL), 0);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  body(NULL);
  puts("each where the last returned");
  return 0;
}
