// A compressor's main thread deletes the queue, and its pointers, when the writer is done; a
// reader may not yet have looked a last time.
#include <sched.h>

#include "planted.h"

struct Queue {
  pthread_mutex_t* mutex;
  int blocks, is_over;
};
static struct Queue* volatile queue;

static void* compress(void* unused) {
  for (;;) {
    pthread_mutex_lock(queue->mutex);
    const int is_over = queue->is_over && queue->blocks == 0;
    if (queue->blocks) queue->blocks--;
    pthread_mutex_unlock(queue->mutex);
    if (is_over) return unused;
    sched_yield();
  }
}

int main(void) {
  pthread_t threads[2];
  queue = calloc(1, sizeof *queue);
  queue->mutex = malloc(sizeof *queue->mutex);
  pthread_mutex_init(queue->mutex, NULL);
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, compress, NULL);
  pthread_mutex_lock(queue->mutex);
  queue->blocks = 3;
  queue->is_over = 1;
  pthread_mutex_unlock(queue->mutex);
  pthread_join(threads[0], NULL);
  FIX(pthread_join(threads[1], NULL);)
  pthread_mutex_destroy(queue->mutex);
  free(queue->mutex);
  queue->mutex = NULL;
  BUG(pthread_join(threads[1], NULL);)
  free(queue);
  return 0;
}
