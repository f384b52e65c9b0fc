// Each thread makes 30,000 small objects, then changes a counter that nobody has touched before.
#include "program.h"

static long pad[1024];
static long cold;
static long pad_after[1024];
struct node {
  struct node* next;
  char text[48];
};

static void* body(void* number) {
  const long me = (long)number;
  struct node* all = NULL;
  for (int i = 0; i < 30000; ++i) {
    struct node* node = malloc(sizeof *node);
    node->next = all;
    node->text[0] = (char)me;
    all = node;
  }
  use(all->text[0]);
  while (all) {
    struct node* next = all->next;
    free(all);
    all = next;
  }
  pause_ms(me ? 30 : 0);
  cold++;  // RACE
  return NULL;
}

int main(void) {
  pthread_t one = start(body, NULL), two = start(body, (void*)1L);
  join(one);
  join(two);
  use(cold + pad[7] + pad_after[7]);
  return 0;
}
