// A node is put in front of a list under the lock, but the list is walked without it.
#include "program.h"

struct Node {
  struct Node* next;
  int value;
} nodes[20];
struct Node* head;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void* adder(void* unused) {
  for (int i = 0; i < 20; ++i) {
    pthread_mutex_lock(&mutex);
    nodes[i].value = i;    // RACE
    nodes[i].next = head;  // RACE
    head = &nodes[i];      // RACE
    pthread_mutex_unlock(&mutex);
    usleep(50);
  }
  return unused;
}

static void* walker(void* unused) {
  for (int i = 0; i < 20; ++i) {
    for (struct Node* node = head; node; node = node->next)  // RACE
      use(node->value);                                      // RACE
    usleep(50);
  }
  return unused;
}

int main(void) {
  run_two(adder, walker);
  return 0;
}
