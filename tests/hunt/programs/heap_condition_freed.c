// The waiter frees the request as soon as it is done; the worker signals the condition in it
// afterwards, without the lock.
#include "planted.h"

struct Request {
  pthread_mutex_t lock;
  pthread_cond_t done;
  int is_done;
};
static struct Request* request;

static void* work(void* unused) {
  struct Request* const mine = request;
  pthread_mutex_lock(&mine->lock);
  mine->is_done = 1;
  FIX(pthread_cond_signal(&mine->done);)
  pthread_mutex_unlock(&mine->lock);
  BUG(pthread_cond_signal(&mine->done);)
  return unused;
}

static void* ask(void* unused) {
  pthread_mutex_lock(&request->lock);
  while (!request->is_done) pthread_cond_wait(&request->done, &request->lock);
  pthread_mutex_unlock(&request->lock);
  pthread_cond_destroy(&request->done);
  pthread_mutex_destroy(&request->lock);
  free(request);
  return unused;
}

int main(void) {
  request = malloc(sizeof *request);
  pthread_mutex_init(&request->lock, NULL);
  pthread_cond_init(&request->done, NULL);
  request->is_done = 0;
  RUN(work, ask);
  return 0;
}
