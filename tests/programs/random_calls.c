// Random bytes come, and differ, from every function that gives them: first in the first thread,
// then in others, before and after a fork; and the functions that the vDSO answers go on giving
// what they should.
#include <sys/random.h>
#include <sys/time.h>

#include "program.h"

enum { kThreads = 4, kEach = 3, kAll = 64 };
static unsigned long long numbers[kAll];
static int count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take(int where) {
  unsigned long long number = 0, entropy = 0;
  CHECK_EQ(getrandom(&number, sizeof number, where % 2 ? GRND_NONBLOCK : 0), sizeof number);
  CHECK_EQ(getentropy(&entropy, sizeof entropy), 0);
  CHECK_EQ(pthread_mutex_lock(&mutex), 0);
  numbers[count++] = number;
  numbers[count++] = entropy;
  CHECK_EQ(pthread_mutex_unlock(&mutex), 0);
}

static void* body(void* argument) {
  for (int i = 0; i < kEach; ++i) take((int)(long)argument + i);
  return NULL;
}

static time_t now(void) { return time(NULL); }

static void check_clocks(void) {
  struct timespec time, later;
  struct timeval day;
  unsigned processor = ~0u;
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &time), 0);
  CHECK_EQ(clock_gettime(CLOCK_MONOTONIC, &later), 0);
  CHECK(later.tv_sec > time.tv_sec ||
        (later.tv_sec == time.tv_sec && later.tv_nsec >= time.tv_nsec));
  CHECK_EQ(gettimeofday(&day, NULL), 0);
  CHECK(labs((long)now() - (long)day.tv_sec) <= 1);
  CHECK_EQ(clock_getres(CLOCK_MONOTONIC, &time), 0);
  CHECK(time.tv_sec == 0 && time.tv_nsec > 0);
  CHECK_EQ(syscall(SYS_getcpu, &processor, NULL, NULL), 0);
  CHECK(sched_getcpu() >= 0 && processor < 65536);
}

static void check_differ(void) {
  for (int i = 0; i < count; ++i) {
    for (int k = 0; k < i; ++k) CHECK(numbers[i] != numbers[k]);
  }
}

int main(void) {
  int ends[2];
  unsigned long long theirs[4];
  check_clocks();
  take(0);
  CHECK_EQ(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {  // what was drawn before the fork is not drawn again on both sides
    count = 0;
    take(0);
    take(1);
    check_clocks();
    _exit(write(ends[1], numbers, sizeof theirs) != sizeof theirs);
  }
  take(1);
  CHECK_EQ(read(ends[0], theirs, sizeof theirs), sizeof theirs);
  for (int i = 0; i < 4; ++i) numbers[count++] = theirs[i];
  CHECK_EQ(waitpid(child, NULL, 0), child);
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    CHECK_EQ(pthread_create(&threads[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < kThreads; ++i) CHECK_EQ(pthread_join(threads[i], NULL), 0);
  check_clocks();
  check_differ();
  errno = 0;
  CHECK_EQ(getrandom(numbers, sizeof *numbers, ~0u), -1);
  CHECK_EQ(errno, EINVAL);
  printf("%d numbers differ\n", count);
  return 0;
}
