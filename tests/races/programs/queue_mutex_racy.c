// Items are handed over by a queue under a mutex, but the producer writes the item again after it has put it.
#include "program.h"

struct Item {
  int value;
} items[8];
struct Item* queue[8];
int head, tail;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static void* producer(void* unused) {
  for (int i = 0; i < 8; ++i) {
    items[i].value = i;
    pthread_mutex_lock(&mutex);
    queue[tail++] = &items[i];
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&mutex);
    items[i].value = -i;  // RACE
    usleep(50);
  }
  return unused;
}

static void* consumer(void* unused) {
  for (int i = 0; i < 8; ++i) {
    pthread_mutex_lock(&mutex);
    while (head == tail) pthread_cond_wait(&more, &mutex);
    struct Item* item = queue[head++];
    pthread_mutex_unlock(&mutex);
    item->value += 100;  // RACE
  }
  return unused;
}

int main(void) {
  run_two(producer, consumer);
  return 0;
}
