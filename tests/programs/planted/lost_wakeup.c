// A lost wake-up: a consumer looks whether there is work, writes in its log that there is none, and
// then waits without looking again. Work that came in between wakes nobody. The producer passes on
// what a poll with a time limit found.
#include <poll.h>

#include "planted.h"

enum { kItems = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t some = PTHREAD_COND_INITIALIZER;
static long waiting, sum;
static int items;

static void* produce(void* argument) {
  struct first_part first;
  struct second_part second;
  struct pollfd requester = {(int)(intptr_t)argument, POLLIN, 0};
  int timeouts = 0;
  for (;;) {
    if (poll(&requester, 1, 1) == 0) {
      timeouts++;
      continue;
    }
    if (!receive(requester.fd, &first, sizeof first) ||
        !receive(requester.fd, &second, sizeof second))
      break;
    pthread_mutex_lock(&lock);
    waiting += second.amount;
    items++;
    pthread_cond_signal(&some);
    pthread_mutex_unlock(&lock);
  }
  return (void*)(intptr_t)timeouts;
}

static void* consume(void* argument) {
  int taken = 0;
  while (taken < kItems) {
    pthread_mutex_lock(&lock);
    const int is_empty = items == 0;
    pthread_mutex_unlock(&lock);
    if (is_empty) {
      pause_microseconds(300);  // a slow disk under the log
      pthread_mutex_lock(&lock);
      pthread_cond_wait(&some, &lock);  // the bug: items may be there by now
      pthread_mutex_unlock(&lock);
      continue;
    }
    pthread_mutex_lock(&lock);
    sum += waiting;
    taken += items;
    waiting = items = 0;
    pthread_mutex_unlock(&lock);
  }
  return argument;
}

int main(void) {
  report_crashes();
  const int requester = start_sender(kItems, 0, 8000, 50);
  pthread_t threads[2];
  pthread_create(&threads[0], NULL, produce, (void*)(intptr_t)requester);
  pthread_create(&threads[1], NULL, consume, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  printf("%s\n", sum > 0 ? "all consumed" : "nothing");
  return 0;
}
