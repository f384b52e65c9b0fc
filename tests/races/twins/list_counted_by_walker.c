// A list is walked under its lock, or without, while nodes are put in front and cut off its end.
#include "twin.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct node {
  struct node* next;
  int value;
} * head, nodes[20];

static void* builder(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    nodes[i].value = i;
    nodes[i].next = head;
    head = &nodes[i];  // RACE
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

static void* walker(void* unused) {
  int count = 0;
  guard(&mutex);
  for (const struct node* at = head; at; at = at->next) count += at->value;  // RACE
  unguard(&mutex);
  use(count);
  return unused;
}

int main(void) {
  run_two(builder, walker);
  return 0;
}
