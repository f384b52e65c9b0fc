// Timers' signals that come as a task comes to a page that it has not: their handler makes a call,
// and touches pages itself.
#include "../programs/program.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { kPages = 64, kPage = 4096, kThreads = 2, kRounds = 3000, kEveryUs = 100 };

static char* memory;
static volatile char touched[kPages * 64];
static int null_device;
static int wrong;

static void on_signal(int number, siginfo_t* info, void* context) {
  static unsigned at;
  (void)context;
  if (info->si_signo != number || info->si_code <= SI_TKILL)
    __atomic_store_n(&wrong, 1, __ATOMIC_SEQ_CST);
  const unsigned mine = __atomic_fetch_add(&at, 1, __ATOMIC_SEQ_CST);
  touched[mine % kPages * 64] = 1;
  __atomic_fetch_add(&memory[(kPages + mine % kPages) * kPage], 1, __ATOMIC_SEQ_CST);
  if (write(null_device, "x", 1) != 1) __atomic_store_n(&wrong, 1, __ATOMIC_SEQ_CST);
}

static void* body(void* argument) {
  const long mine = (long)argument;
  if (mine == 0) {
    const stack_t stack = {.ss_sp = malloc(64 << 10), .ss_size = 64 << 10};
    CHECK(sigaltstack(&stack, NULL) == 0);
  }
  for (long round = 0; round < kRounds; round++) {
    for (long page = 0; page < kPages; page++) *(long*)(memory + page * kPage + 8 * mine) += round;
  }
  for (long page = 0; page < kPages; page++)
    CHECK(*(long*)(memory + page * kPage + 8 * mine) == (long)kRounds * (kRounds - 1) / 2);
  return NULL;
}

static void set_timers(long every) {
  const struct itimerval timer = {{0, every}, {0, every}};
  CHECK(setitimer(ITIMER_REAL, &timer, NULL) == 0);
  CHECK(setitimer(ITIMER_PROF, &timer, NULL) == 0);
}

int main(void) {
  const struct sigaction action = {.sa_sigaction = on_signal,
                                   .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
  null_device = open("/dev/null", O_WRONLY);
  memory =
      mmap(NULL, 2 * kPages * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(null_device >= 0 && memory != MAP_FAILED);
  CHECK(sigaction(SIGALRM, &action, NULL) == 0 && sigaction(SIGPROF, &action, NULL) == 0);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  set_timers(kEveryUs);
  for (int i = 0; i < kThreads; i++) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  set_timers(0);
  CHECK(!wrong);
  puts("all pages hold what was stored");
  return 0;
}
