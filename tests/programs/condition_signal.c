// Each signal wakes at least one waiter and a broadcast wakes all; who was woken in which order is
// printed.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER, arrived = PTHREAD_COND_INITIALIZER;
static int waiting, permits, woken;
static char order[kMaxThreads + 1];

static void* body(void* number) {
  pthread_mutex_lock(&lock);
  ++waiting;
  pthread_cond_signal(&arrived);
  while (permits == 0) pthread_cond_wait(&given, &lock);
  --permits;
  order[woken++] = (char)('a' + (long)number % 26);
  pthread_cond_signal(&arrived);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4), singles = threads / 2;
  pthread_t ids[kMaxThreads];
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, (void*)i), 0);
  pthread_mutex_lock(&lock);
  while (waiting < threads) pthread_cond_wait(&arrived, &lock);
  for (int i = 0; i < singles; ++i) {
    permits = 1;
    pthread_cond_signal(&given);
    while (woken <= i) pthread_cond_wait(&arrived, &lock);
  }
  CHECK_EQ(woken, singles);
  permits = threads - singles;
  pthread_cond_broadcast(&given);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  CHECK_EQ(woken, threads);
  CHECK_EQ(permits, 0);
  puts(order);
  return 0;
}
