// The lock is in the structure around the member that a function gets.
#include <stddef.h>

#include "twin.h"

struct node {
  pthread_mutex_t mutex;
  int value;
  struct node* next;
};
static struct node nodes[2] = {{PTHREAD_MUTEX_INITIALIZER, 0, &nodes[1]}, {PTHREAD_MUTEX_INITIALIZER, 0, &nodes[0]}};

static void add(int* value) {
  struct node* node = (struct node*)((char*)value - offsetof(struct node, value));
  pthread_mutex_t* mutex = RACY ? &node->next->mutex : &node->mutex;
  pthread_mutex_lock(mutex);
  ++*value;  // RACE
  pthread_mutex_unlock(mutex);
}

static void* body(void* number) {
  if ((long)number == 0) add(&nodes[0].value);
  pthread_mutex_lock(&nodes[0].mutex);
  nodes[0].value += 2;  // RACE
  pthread_mutex_unlock(&nodes[0].mutex);
  return NULL;
}

int main(void) {
  pthread_t other = start(body, (void*)1);
  pause_ms(1);
  pthread_t one = start(body, (void*)0);
  join(one);
  join(other);
  return 0;
}
