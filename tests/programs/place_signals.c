// A timer's signals come in the middle of a computation that makes no event, and behind faults
// whose handler goes back to it; how far it was is what the handler notes, and is printed with an
// argument.
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/time.h>

enum { kTicks = 20 };

static volatile sig_atomic_t ticks;
static volatile uint64_t rounds;
static uint64_t seen[kTicks];

static void on_tick(int signal) {
  (void)signal;
  if (ticks < kTicks) seen[ticks] = rounds;
  ticks++;
}

static char* closed;

static void on_fault(int signal) {
  (void)signal;
  mprotect(closed, 4096, PROT_READ | PROT_WRITE);
}

int main(int argc, char** argv) {
  (void)argv;
  struct sigaction action = {.sa_handler = on_tick}, fault = {.sa_handler = on_fault};
  const struct itimerval every = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
  uint64_t state = 1, sum = 0;
  int last = -1;
  sigaction(SIGALRM, &action, NULL);
  sigaction(SIGSEGV, &fault, NULL);
  closed = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  setitimer(ITIMER_REAL, &every, NULL);
  while (ticks < kTicks) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sum += state >> 33;
    rounds = rounds + 1;
    if (last != ticks) {
      last = ticks;
      mprotect(closed, 4096, PROT_NONE);
      *(volatile char*)closed = 1;
    }
  }
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < kTicks && argc > 1; i++) printf("%llu ", (unsigned long long)seen[i]);
  if (argc > 1)
    printf("\n%llu rounds, sum %llu\n", (unsigned long long)rounds, (unsigned long long)sum);
  puts(sum ? "all ticks came" : "?");
  return 0;
}
