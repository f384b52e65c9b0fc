// pthread_detach on oneself and from outside: the threads run on and end on their own.
#include "program.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ended;

static void* body(void* own) {
  if (own) CHECK_EQ(pthread_detach(pthread_self()), 0);
  pthread_mutex_lock(&lock);
  ++ended;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char** argv) {
  int threads = argument(argc, argv, 1, 4) * 5;
  for (int i = 0; i < threads; ++i) {
    pthread_t thread;
    int own = i % 2;
    CHECK_EQ(pthread_create(&thread, NULL, body, own ? &lock : NULL), 0);
    if (!own) CHECK_EQ(pthread_detach(thread), 0);
  }
  pthread_mutex_lock(&lock);
  while (ended < threads) pthread_cond_wait(&changed, &lock);
  pthread_mutex_unlock(&lock);
  printf("ended %d\n", ended);
  return 0;
}
