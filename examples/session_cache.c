// A server in small with a bug that shows in about one run of ten: ./demo records it until it crashes, and replays that.
// A request finds a basket under the lock, waits for its other half without the lock, and goes on with the basket. If the
// session has expired in between, it reads through a null pointer. When each of this happens the world outside decides.
// usage: session_cache
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <ucontext.h>
#include <unistd.h>

struct basket {
  int things;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct basket* basket;

// Waits for something that may take so long: a user, a disk, a network. Says how long it was.
static void wait_for(const char* what, unsigned milliseconds) {
  unsigned microseconds = 0;
  if (getrandom(&microseconds, sizeof microseconds, 0) != sizeof microseconds) abort();
  microseconds %= milliseconds * 1000;
  usleep(microseconds);
  printf("%s after %u us\n", what, microseconds);
}

static void* expire(void* unused) {
  wait_for("the session expired", 20);
  pthread_mutex_lock(&lock);
  free(basket);
  basket = NULL;
  pthread_mutex_unlock(&lock);
  return unused;
}

static void* serve(void* unused) {
  wait_for("a request came", 20);
  pthread_mutex_lock(&lock);
  const int is_there = basket != NULL;
  pthread_mutex_unlock(&lock);
  wait_for("its other half came", 4);
  if (is_there) printf("%d things\n", basket->things);  // the bug: it may have gone
  return unused;
}

// The place is told as addr2line wants it: its distance from where the program was loaded.
static void crashed(int number, siginfo_t* info, void* context) {
  extern char __executable_start[];
  const greg_t* registers = ((ucontext_t*)context)->uc_mcontext.gregs;
  printf("crashed at +%#llx: signal %d, address %p, stack %#llx\n", registers[REG_RIP] - (long long)__executable_start,
         number, info->si_addr, registers[REG_RSP]);
  fflush(stdout);
}

int main(void) {
  // Once: as the handler returns, the crash comes again and ends the program.
  struct sigaction action = {.sa_sigaction = crashed, .sa_flags = SA_SIGINFO | SA_RESETHAND};
  sigaction(SIGSEGV, &action, NULL);
  basket = malloc(sizeof *basket);
  basket->things = 3;
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, serve, NULL);
  pthread_create(&threads[1], NULL, expire, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  free(basket);
  return 0;
}
