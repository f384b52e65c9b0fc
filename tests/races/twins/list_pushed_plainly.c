// Two threads push nodes onto a list by plain stores to its head.
#include "twin.h"

struct Node {
  struct Node* next;
  int value;
};
static struct Node* head;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void* push(void* number) {
  for (int i = 0; i < 4; ++i) {
    struct Node* node = malloc(sizeof *node);
    if (!node) abort();
    node->value = (int)(long)number;
    guard(&mutex);
    node->next = head;  // RACE
    head = node;        // RACE
    unguard(&mutex);
  }
  return NULL;
}

int main(void) {
  run_threads(2, push);
  long sum = 0;
  for (struct Node* node = head; node;) {
    struct Node* next = node->next;
    sum += node->value;
    free(node);
    node = next;
  }
  use(sum);
  return 0;
}
