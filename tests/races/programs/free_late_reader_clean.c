// main waits for a semaphore that the thread posts after its last look, and then frees.
#include "program.h"

struct Node {
  long pad[3];
  long value;
};
sem_t done;
static void* reader(void* argument) {
  struct Node* node = (struct Node*)argument;
  use(node->value);
  sem_post(&done);
  return NULL;
}

int main(void) {
  struct Node* node = (struct Node*)calloc(1, sizeof *node);
  sem_init(&done, 0, 0);
  pthread_t thread = start(reader, node);
  sem_wait(&done);
  free(node);
  join(thread);
  return 0;
}
