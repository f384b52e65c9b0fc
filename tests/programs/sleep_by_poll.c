// Sleeps by calls that look at no descriptor: poll, ppoll, select and pselect. They end in virtual
// time, in an order that is the same in each run, as those of nanosleep do. A signal ends one
// early.
#include <poll.h>
#include <signal.h>
#include <sys/select.h>
#include "program.h"

enum { kSleepers = 5, kSleeps = 8, kMillisecond = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char ends[kSleepers * kSleeps + 1];
static int count;
static pthread_barrier_t barrier;

static void rest(long how, long milliseconds) {
  const struct timespec given = {0, milliseconds * kMillisecond};
  struct timespec time = given;
  struct timeval coarse = {0, milliseconds * 1000};
  fd_set none, no_error;
  FD_ZERO(&none);
  FD_ZERO(&no_error);
  switch (how) {
    case 0: CHECK_EQ(poll(NULL, 0, (int)milliseconds), 0); break;
    case 1: CHECK_EQ(ppoll(NULL, 0, &time, NULL), 0); break;
    case 2: CHECK_EQ(select(0, NULL, NULL, NULL, &coarse), 0); break;
    case 3: CHECK_EQ(pselect(8, &none, NULL, &no_error, &time, NULL), 0); break;
    default: CHECK_EQ(nanosleep(&time, NULL), 0);
  }
}

static void* sleeper(void* number) {
  const long self = (long)number;
  for (long i = 0; i < kSleeps; ++i) {
    rest(self, 1 + (self * 3 + i * 5) % 7);
    pthread_mutex_lock(&lock);
    ends[count++] = (char)('a' + self);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

static _Atomic int seen;
static void on_signal(int signal) { seen = signal; }

static void* interrupted(void* unused) {
  pthread_barrier_wait(&barrier);
  // Under the order serial a schedule may let any sleep end.
  while (!seen) {
    struct timeval long_time = {30, 0};
    const int result = select(0, NULL, NULL, NULL, &long_time);
    CHECK(result == 0 || (errno == EINTR && seen == SIGUSR1));
  }
  return unused;
}

int main(void) {
  pthread_t threads[kSleepers], thread;
  for (long i = 0; i < kSleepers; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, sleeper, (void*)i), 0);
  for (int i = 0; i < kSleepers; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  printf("%s\n", ends);
  struct sigaction action = {.sa_handler = on_signal};
  CHECK_EQ(sigaction(SIGUSR1, &action, NULL), 0);
  CHECK_EQ(pthread_barrier_init(&barrier, NULL, 2), 0);
  CHECK_EQ(pthread_create(&thread, NULL, interrupted, NULL), 0);
  pthread_barrier_wait(&barrier);
  do {
    sleep_ms(5);
    CHECK_EQ(pthread_kill(thread, SIGUSR1), 0);
    sleep_ms(5);
  } while (!seen);
  CHECK_EQ(pthread_join(thread, NULL), 0);
  return 0;
}
