// Pairs of threads hand a number to and fro, each change signalled while the lock is held: between
// looking and waiting none may be lost.
#include "program.h"

enum { kPairs = kMaxThreads / 2 };
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int value;
} batons[kPairs];
static int rounds;

static void* body(void* number) {
  const long pair = (long)number / 2;
  const int odd = (long)number % 2;
  for (int i = 0; i < rounds; ++i) {
    pthread_mutex_lock(&batons[pair].lock);
    while (batons[pair].value != 2 * i + odd)
      pthread_cond_wait(&batons[pair].changed, &batons[pair].lock);
    batons[pair].value++;
    if (i % 2) pthread_cond_broadcast(&batons[pair].changed);
    else pthread_cond_signal(&batons[pair].changed);
    pthread_mutex_unlock(&batons[pair].lock);
  }
  return NULL;
}

int main(int argc, char** argv) {
  const int threads = argument(argc, argv, 1, 4) / 2 * 2;
  rounds = argument(argc, argv, 2, 300);
  pthread_t ids[kMaxThreads];
  for (int i = 0; i < kPairs; ++i) {
    pthread_mutex_init(&batons[i].lock, NULL);
    pthread_cond_init(&batons[i].changed, NULL);
  }
  for (long i = 0; i < threads; ++i) CHECK_EQ(pthread_create(&ids[i], NULL, body, (void*)i), 0);
  for (int i = 0; i < threads; ++i) CHECK_EQ(pthread_join(ids[i], NULL), 0);
  for (int i = 0; i < threads / 2; ++i) CHECK_EQ(batons[i].value, 2 * rounds);
  puts("handed over");
  return 0;
}
