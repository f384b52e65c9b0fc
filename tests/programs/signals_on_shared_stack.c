// A thread raises signals at all depths of its stack, while others look at the pages of that stack
// and send it signals, too. So pages of the stack are away where a handler's frame is written, and
// signals come with them.
#include "program.h"

enum { kRounds = 400, kLookers = 2, kDepth = 12288, kSent = 200 };

static pthread_t g_main;
static char* _Atomic g_top;
static _Atomic int g_over;
static _Atomic long g_raised, g_sent;
static _Thread_local volatile char t_seen;

static void on_raised(int number) {
  (void)number;
  g_raised++;
}
static void on_sent(int number) {
  (void)number;
  g_sent++;
}

// Sends so few signals that they do not keep the thread from all else.
static void* look(void* unused) {
  for (int i = 0; !g_over; i++) {
    char* top = g_top;
    for (int page = 0; top && page < kDepth; page += 2048) t_seen = top[-page];
    if (i < kSent) pthread_kill(g_main, SIGUSR2);
    sched_yield();
  }
  return unused;
}

static __attribute__((noinline)) void raise_at(size_t depth) {
  volatile char* frame = __builtin_alloca(depth);
  frame[0] = 1;
  raise(SIGUSR1);
}

int main(void) {
  char here[64] = {0};
  pthread_t threads[kLookers];
  g_main = pthread_self();
  g_top = here;
  signal(SIGUSR1, on_raised);
  signal(SIGUSR2, on_sent);
  for (int i = 0; i < kLookers; i++) CHECK_EQ(pthread_create(&threads[i], NULL, look, NULL), 0);
  for (size_t i = 0; i < kRounds; i++) raise_at(i * 176 % kDepth + 16);
  g_over = 1;
  for (int i = 0; i < kLookers; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  CHECK_EQ(g_raised, kRounds);
  puts("all raised signals were handled");
  return 0;
}
