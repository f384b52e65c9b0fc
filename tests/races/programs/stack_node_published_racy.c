// A thread puts the address of its local variable into a heap node, hands the node over by a lock, and goes on with the variable.
#include "program.h"

struct node {
  long* cell;
};
static struct node* handed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* giver(void* unused) {
  long local = 0;
  struct node* node = malloc(sizeof *node);
  node->cell = &local;
  pthread_mutex_lock(&lock);
  handed = node;
  pthread_mutex_unlock(&lock);
  local++;  // RACE
  pause_ms(60);
  use(local);
  return unused;
}

static void* taker(void* unused) {
  pause_ms(20);
  pthread_mutex_lock(&lock);
  struct node* node = handed;
  pthread_mutex_unlock(&lock);
  if (node) (*node->cell)++;  // RACE
  return unused;
}

int main(void) {
  run_two(giver, taker);
  free(handed);
  return 0;
}
