// Waits inside sections that write the same pages each time, with a cancellation pending that the
// thread has disabled; the pages' contents, and words around them, are checked.
#include "program.h"

enum { kPages = 12, kPage = 4096, kRounds = 300 };

static char pages[kPages][kPage] __attribute__((aligned(4096)));
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t here;

static void* body(void* unused) {
  int old;
  CHECK_EQ(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old), 0);
  pthread_barrier_wait(&here);
  pthread_barrier_wait(&here);  // cancelled by now
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    for (int page = 0; page < kPages; ++page) ++pages[page][round % 64];
    struct timespec soon;
    clock_gettime(CLOCK_REALTIME, &soon);
    soon.tv_nsec += 10000;
    if (soon.tv_nsec >= 1000000000) soon.tv_sec++, soon.tv_nsec -= 1000000000;
    pthread_cond_timedwait(&changed, &lock, &soon);
    for (int page = 0; page < kPages; ++page) ++pages[page][round % 64 + 64];
    pthread_cond_signal(&changed);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4);
  pthread_t ids[kMaxThreads];
  CHECK_EQ(pthread_barrier_init(&here, NULL, (unsigned)threads + 1), 0);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, NULL), 0);
  pthread_barrier_wait(&here);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_cancel(ids[i]), 0);
  pthread_barrier_wait(&here);
  for (int i = 0; i < threads; ++i) {
    void* value = NULL;
    CHECK_EQ(pthread_join(ids[i], &value), 0);
    CHECK(value == NULL);
  }
  long sum = 0;
  for (int page = 0; page < kPages; ++page) {
    for (int at = 0; at < 128; ++at) sum += (unsigned char)pages[page][at];
  }
  CHECK_EQ(sum, (long)kPages * threads * kRounds * 2);
  printf("sum %ld\n", sum);
  return 0;
}
