// Lists hang on slots, each slot with its lock; one list is changed under the next slot's.
#include "twin.h"

struct node {
  int datum;
  struct node* next;
};

static struct {
  struct node* slots[10];
  pthread_mutex_t mutex[10];
} cache;

static struct node* make(int datum) {
  struct node* node = (struct node*)malloc(sizeof(struct node));
  node->datum = datum;
  node->next = NULL;
  return node;
}

static void put(struct node* node, struct node* list) {
  node->next = list->next;  // RACE
  list->next = node;  // RACE
}

static void* body(void* unused) {
  int lock = RACY ? 4 : 3;
  struct node* node = make(3);
  pthread_mutex_lock(&cache.mutex[lock]);
  put(node, cache.slots[3]);
  pthread_mutex_unlock(&cache.mutex[lock]);
  return unused;
}

int main(void) {
  for (int i = 0; i < 10; ++i) {
    pthread_mutex_init(&cache.mutex[i], NULL);
    cache.slots[i] = make(1);
    put(make(2), cache.slots[i]);
  }
  start(body, NULL);
  pthread_mutex_lock(&cache.mutex[3]);
  struct node* node = cache.slots[3]->next;  // RACE
  use(node->datum);  // RACE
  pthread_mutex_unlock(&cache.mutex[3]);
  return 0;
}
