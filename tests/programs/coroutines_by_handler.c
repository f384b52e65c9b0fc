// Coroutines whose stacks are those of handlers, as some libraries make them: the handler notes
// where it stands and returns, and the program later jumps back to there, and from one to the next.
#include "program.h"

enum { kCoroutines = 4, kSize = 65536, kRounds = 5 };
static __thread jmp_buf places[kCoroutines], scheduler;
static __thread volatile int current, log_of_steps;

static void work(volatile int number) {
  for (volatile int i = 0;; ++i) {
    log_of_steps = (log_of_steps * 7 + number * 3 + i) % 1000003;
    if (!setjmp(places[number])) longjmp(scheduler, 1);
  }
}

static void on_signal(int signal) {
  volatile int number = current;
  (void)signal;
  if (setjmp(places[number])) work(number);
}

static void* body(void* unused) {
  char* const stacks = (char*)malloc(kCoroutines * (size_t)kSize);
  for (current = 0; current < kCoroutines; ++current) {
    stack_t stack = {.ss_sp = stacks + current * (size_t)kSize, .ss_flags = 0, .ss_size = kSize};
    CHECK_EQ(sigaltstack(&stack, NULL), 0);
    CHECK_EQ(raise(SIGUSR1), 0);
    stack.ss_flags = SS_DISABLE;
    CHECK_EQ(sigaltstack(&stack, NULL), 0);
  }
  for (volatile int round = 0; round < kRounds; ++round) {
    for (volatile int i = 0; i < kCoroutines; ++i) {
      if (!setjmp(scheduler)) longjmp(places[i], 1);
    }
  }
  int expected = 0;
  for (int i = 0; i < kRounds; ++i)
    for (int k = 0; k < kCoroutines; ++k) expected = (expected * 7 + k * 3 + i) % 1000003;
  CHECK_EQ(log_of_steps, expected);
  log_of_steps = 0;
  free(stacks);
  return unused;
}

int main(int argc, char** argv) {
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  body(NULL);
  run_threads(argument(argc, argv, 1, 4), body);
  puts("each had its turns");
  return 0;
}
