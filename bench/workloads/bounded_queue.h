// A bounded queue of pointers between the stages of a pipeline: one mutex, two conditions. It ends
// when every producer has closed it and it is empty.
// Policy: locked by its own lock, which lies in it.
#ifndef WEIR_BENCH_BOUNDED_QUEUE_H
#define WEIR_BENCH_BOUNDED_QUEUE_H
#include <pthread.h>
#include <weir/weir.h>

enum { kQueueSlots = 128 };

struct Queue {
  pthread_mutex_t lock;
  pthread_cond_t filled, emptied;
  void* items[kQueueSlots];
  long first, count, producers;
};

static inline void queue_open(struct Queue* queue, long producers) {
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->filled, NULL);
  pthread_cond_init(&queue->emptied, NULL);
  queue->first = queue->count = 0;
  queue->producers = producers;
  weir_set_locked(queue, &queue->lock);
}

static inline void queue_push(struct Queue* queue, void* item) {
  pthread_mutex_lock(&queue->lock);
  while (queue->count == kQueueSlots) pthread_cond_wait(&queue->emptied, &queue->lock);
  queue->items[(queue->first + queue->count++) % kQueueSlots] = item;
  pthread_cond_signal(&queue->filled);
  pthread_mutex_unlock(&queue->lock);
}

// NULL: the queue has ended.
static inline void* queue_pop(struct Queue* queue) {
  void* item = NULL;
  pthread_mutex_lock(&queue->lock);
  while (queue->count == 0 && queue->producers > 0) pthread_cond_wait(&queue->filled, &queue->lock);
  if (queue->count > 0) {
    item = queue->items[queue->first];
    queue->first = (queue->first + 1) % kQueueSlots;
    queue->count--;
    pthread_cond_signal(&queue->emptied);
  }
  pthread_mutex_unlock(&queue->lock);
  return item;
}

// One producer says that it has no more.
static inline void queue_close(struct Queue* queue) {
  pthread_mutex_lock(&queue->lock);
  if (--queue->producers == 0) pthread_cond_broadcast(&queue->filled);
  pthread_mutex_unlock(&queue->lock);
}

#endif
