// Each thread has its own alternate signal stack; siglongjmp leaves handlers on it with the mask
// restored.
#include "program.h"

enum { kSize = 65536 };
static __thread char* stack_low;
static __thread volatile int on_it;
static __thread sigjmp_buf back;

static void on_signal(int number) {
  char here;
  (void)number;
  on_it = &here > stack_low && &here < stack_low + kSize;
  if (number == SIGUSR2) siglongjmp(back, 5);
}

static void* body(void* unused) {
  stack_t stack, now;
  sigset_t mask;
  stack_low = (char*)malloc(kSize);
  stack = (stack_t){.ss_sp = stack_low, .ss_size = kSize};
  CHECK_EQ(sigaltstack(NULL, &now), 0);
  CHECK_EQ(now.ss_flags, SS_DISABLE);
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  for (int i = 0; i < 10; ++i) {
    on_it = 0;
    CHECK_EQ(pthread_kill(pthread_self(), SIGUSR1), 0);
    CHECK_EQ(on_it, 1);
    on_it = 0;
    int jumped = sigsetjmp(back, 1);
    if (jumped == 0) {
      CHECK_EQ(pthread_kill(pthread_self(), SIGUSR2), 0);
      CHECK(!"the handler did not jump");
    }
    CHECK_EQ(jumped, 5);
    CHECK_EQ(on_it, 1);
    CHECK_EQ(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
    CHECK_EQ(sigismember(&mask, SIGUSR2), 0);
  }
  stack.ss_flags = SS_DISABLE;
  CHECK_EQ(sigaltstack(&stack, NULL), 0);
  free(stack_low);
  return unused;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(sigaction(SIGUSR2, &action, NULL), 0);
  run_threads(argument(argc, argv, 1, 4), body);
  puts("own stacks");
  return 0;
}
