// What a handler sees of its stack: in its context as by sigaltstack(), and where its variables
// lie; with such a stack and without one, alone and in threads.
#include "program.h"

enum { kSize = 32768 };
static __thread char room[kSize];
static __thread volatile int seen;

static void on_signal(int signal, siginfo_t* info, void* context) {
  const stack_t* const shown = &((const ucontext_t*)context)->uc_stack;
  const char* const here = (const char*)&shown;
  stack_t now;
  (void)signal, (void)info;
  CHECK_EQ(sigaltstack(NULL, &now), 0);
  const int is_there = here >= room && here < room + kSize;
  CHECK_EQ(is_there, now.ss_flags == SS_ONSTACK);
  CHECK_EQ(!(shown->ss_flags & SS_DISABLE), is_there);
  if (is_there) {
    CHECK(shown->ss_sp == room && now.ss_sp == room);
    CHECK(shown->ss_size == kSize && now.ss_size == kSize);
    CHECK_EQ(sigaltstack(shown, NULL), -1);
    CHECK_EQ(errno, EPERM);
  }
  ++seen;
}

static void* body(void* unused) {
  stack_t own = {room, 0, kSize}, before;
  for (int i = 0; i < 10; ++i) {
    own.ss_flags = 0;
    CHECK_EQ(sigaltstack(&own, &before), 0);
    CHECK_EQ(before.ss_flags, SS_DISABLE);
    CHECK_EQ(raise(SIGUSR1), 0);
    __asm__ volatile("ud2");
    own.ss_flags = SS_DISABLE;
    CHECK_EQ(sigaltstack(&own, &before), 0);
    CHECK(before.ss_sp == room && before.ss_flags == 0);
    CHECK_EQ(raise(SIGUSR1), 0);
  }
  CHECK_EQ(seen, 30);
  seen = 0;
  return unused;
}

static void on_instruction(int signal, siginfo_t* info, void* context) {
  on_signal(signal, info, context);
  ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP] += 2;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  action.sa_sigaction = on_instruction;
  CHECK_EQ(sigaction(SIGILL, &action, NULL), 0);
  body(NULL);
  run_threads(argument(argc, argv, 1, 4), body);
  body(NULL);
  puts("on its own stack");
  return 0;
}
