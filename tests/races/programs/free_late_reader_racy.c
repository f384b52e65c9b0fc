// main frees the node at once; the thread looks at it a few milliseconds later.
#include "program.h"

struct Node {
  long pad[3];
  long value;
};
sem_t done;
static void* reader(void* argument) {
  struct Node* node = (struct Node*)argument;
  pause_ms(5);
  use(node->value);  // RACE
  sem_post(&done);
  return NULL;
}

int main(void) {
  struct Node* node = (struct Node*)calloc(1, sizeof *node);
  sem_init(&done, 0, 0);
  pthread_t thread = start(reader, node);
  free(node);  // RACE
  join(thread);
  return 0;
}
