// Mutexes with priority inheritance exclude each other's holders as plain ones do; the attributes
// are told back.
#include "program.h"

static pthread_mutex_t lock;
static long total;

static void* body(void* unused) {
  for (int i = 0; i < 200; ++i) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    ++total;
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return unused;
}

static void* finds_it_taken(void* unused) {
  CHECK_EQ(pthread_mutex_trylock(&lock), EBUSY);
  struct timespec soon = time_in(CLOCK_REALTIME, 10);
  CHECK_EQ(pthread_mutex_timedlock(&lock, &soon), ETIMEDOUT);
  return unused;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), protocol = -1;
  pthread_mutexattr_t attributes;
  CHECK_EQ(pthread_mutexattr_init(&attributes), 0);
  CHECK_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT), 0);
  CHECK_EQ(pthread_mutexattr_getprotocol(&attributes, &protocol), 0);
  CHECK_EQ(protocol, PTHREAD_PRIO_INHERIT);
  CHECK_EQ(pthread_mutex_init(&lock, &attributes), 0);
  run_threads(threads, body);
  CHECK_EQ(total, threads * 200L);
  CHECK_EQ(pthread_mutex_lock(&lock), 0);
  run_threads(1, finds_it_taken);
  CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  CHECK_EQ(pthread_mutex_destroy(&lock), 0);
  CHECK_EQ(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_PROTECT), 0);
  CHECK_EQ(pthread_mutexattr_setprioceiling(&attributes, 12), 0);
  CHECK_EQ(pthread_mutexattr_getprioceiling(&attributes, &protocol), 0);
  CHECK_EQ(protocol, 12);
  printf("total %ld\n", total);
  return 0;
}
