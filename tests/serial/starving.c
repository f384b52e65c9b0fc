// A thread that polls under a lock, without standing aside, while another wants that lock: wherever
// its turn ends, the other comes to have the lock.
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int flag, rounds;

static void* polls(void* argument) {
  for (;;) {
    pthread_mutex_lock(&lock);
    rounds++;
    const int seen = flag;
    pthread_mutex_unlock(&lock);
    if (seen) return argument;
  }
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, polls, NULL);
  while (!rounds) {}
  pthread_mutex_lock(&lock);
  flag = 1;
  pthread_mutex_unlock(&lock);
  pthread_join(thread, NULL);
  return 0;
}
