// Tasks append nodes to one list.
#include "twin.h"

struct node {
  int value;
  struct node* next;
};
static struct node nodes[12], *head;

int main(void) {
#pragma omp parallel num_threads(3)
#pragma omp single
  for (int i = 0; i < 12; ++i) {
#pragma omp task firstprivate(i)
    {
      nodes[i].value = i;
#if !RACY
#pragma omp critical
#endif
      {
        nodes[i].next = head;  // RACE
        head = &nodes[i];      // RACE
      }
    }
  }
  use(head->value);
  return 0;
}
