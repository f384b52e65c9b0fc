// Nodes are put in under one lock, changed under another, and read under the first.
#include "twin.h"

struct node {
  int datum;
  struct node* next;
};

static struct node* list;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void insert(struct node* node) {
  pthread_mutex_lock(&first);
  node->next = list;
  list = node;
  pthread_mutex_unlock(&first);
}

static void* changer(void* unused) {
  struct node* node = (struct node*)calloc(1, sizeof(struct node));
  insert(node);
  pause_ms(10);
  pthread_mutex_t* mine = RACY ? &second : &first;
  pthread_mutex_lock(mine);
  node->datum = 4;  // RACE
  pthread_mutex_unlock(mine);
  return unused;
}

static void* reader(void* unused) {
  pause_ms(30);
  pthread_mutex_lock(&first);
  for (struct node* node = list; node != NULL; node = node->next) use(node->datum);  // RACE
  pthread_mutex_unlock(&first);
  return unused;
}

int main(void) {
  run_two(changer, reader);
  return 0;
}
