// Two threads send to each other over queues with one place: if both send before they receive,
// both wait.
#include "planted.h"

struct Queue {
  pthread_cond_t changed;
  int items;
};
static struct Queue to_a = {PTHREAD_COND_INITIALIZER, 0}, to_b = {PTHREAD_COND_INITIALIZER, 0};
enum { kMessages = 2, kPlaces = FIX(2) BUG(1) };

static void send_one(struct Queue* queue) {
  lock();
  while (queue->items == kPlaces) pthread_cond_wait(&queue->changed, &g_lock);
  queue->items++;
  pthread_cond_broadcast(&queue->changed);
  unlock();
}

static void receive_one(struct Queue* queue) {
  lock();
  while (queue->items == 0) pthread_cond_wait(&queue->changed, &g_lock);
  queue->items--;
  pthread_cond_broadcast(&queue->changed);
  unlock();
}

static void* is_a(void* unused) {
  for (int i = 0; i < kMessages; i++) send_one(&to_b);
  for (int i = 0; i < kMessages; i++) receive_one(&to_a);
  return unused;
}

static void* is_b(void* unused) {
#ifdef FIXED
  for (int i = 0; i < kMessages; i++) send_one(&to_a);
  for (int i = 0; i < kMessages; i++) receive_one(&to_b);
#else
  // Answers at once what is there already, else it sends all of its own first.
  lock();
  const int has_message = to_b.items > 0;
  unlock();
  for (int i = 0; i < kMessages; i++) {
    if (has_message) receive_one(&to_b);
    else send_one(&to_a);
  }
  for (int i = 0; i < kMessages; i++) {
    if (has_message) send_one(&to_a);
    else receive_one(&to_b);
  }
#endif
  return unused;
}

int main(void) {
  RUN(is_a, is_b);
  return 0;
}
