// A task for each node of a list adds to a total, by a critical section or without.
#include "twin.h"

struct node {
  struct node* next;
  int value;
};

int main(void) {
  static struct node nodes[12];
  for (int i = 0; i < 12; ++i) nodes[i] = (struct node){i < 11 ? &nodes[i + 1] : NULL, i};
  long total = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
  for (const struct node* at = nodes; at; at = at->next) {
#pragma omp task firstprivate(at) shared(total)
    {
      pause_ms(1);
#if !RACY
#pragma omp critical
#endif
      total += at->value;  // RACE
    }
  }
  use(total);
  return 0;
}
