// One thread creates threads after writing many pages each time, while main, whose number is lower,
// joins others as they end: both change the C library's lists of stacks and its count of threads.
// Then the lists are walked (fork, setgid).
#include "program.h"

#include <sys/wait.h>
#include <unistd.h>

enum { kPages = 80, kPage = 4096, kRounds = 60 };

static char pages[kPages][kPage];
static pthread_t waiting[kRounds];
static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void* child(void* number) {
  long seen = 0;
  for (int page = 0; page < kPages; ++page) seen += pages[page][(long)number % kPage];
  return (void*)seen;
}

static void* creator(void* unused) {
  for (long round = 1; round <= kRounds; ++round) {
    for (int page = 0; page < (round % 3 ? kPages : 8); ++page) pages[page][round] = 1;
    pthread_t id, other;
    CHECK_EQ(pthread_create(&id, NULL, child, (void*)round), 0);
    CHECK_EQ(pthread_create(&other, NULL, child, (void*)round), 0);
    CHECK_EQ(pthread_detach(other), 0);
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    waiting[ready++] = id;
    CHECK_EQ(pthread_cond_signal(&changed), 0);
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
  }
  return unused;
}

int main(void) {
  pthread_t id;
  long sum = 0;
  CHECK_EQ(pthread_create(&id, NULL, creator, NULL), 0);
  for (int round = 0; round < kRounds; ++round) {
    CHECK_EQ(pthread_mutex_lock(&lock), 0);
    while (ready <= round) pthread_cond_wait(&changed, &lock);
    const pthread_t next = waiting[round];
    CHECK_EQ(pthread_mutex_unlock(&lock), 0);
    void* seen;
    CHECK_EQ(pthread_join(next, &seen), 0);
    sum += (long)seen;
    if (round % 8 == 0) {
      CHECK_EQ(setgid(getgid()), 0);
      const pid_t forked = fork();
      if (forked == 0) _exit(0);
      CHECK_CHILD(forked);
    }
  }
  CHECK_EQ(pthread_join(id, NULL), 0);
  printf("seen %ld\n", sum);
  return 0;
}
