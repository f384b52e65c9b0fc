// An unprotected counter and an unprotected list lose updates as chance has it natively; what is
// left is printed.
#include "program.h"

struct Link {
  struct Link* next;
  int value;
};
static volatile long counter;
static struct Link* volatile list;

static void* body(void* number) {
  for (int i = 0; i < 20000; ++i) {
    counter = counter + 1;
    if (i % 1000 != 0) continue;
    struct Link* link = (struct Link*)malloc(sizeof *link);
    link->value = (int)(long)number * 1000 + i / 1000;
    link->next = list;
    list = link;
    sched_yield();
  }
  return NULL;
}

int main(int argc, char** argv) {
  uint64_t order = 0xcbf29ce484222325u;
  int length = 0;
  run_threads(argument(argc, argv, 1, 4), body);
  // Unordered stores to one pointer: the list may hold anything, also a circle.
  for (struct Link* link = list; link && length < 1000; link = link->next, ++length) {
    order = (order ^ (uint64_t)link->value) * 0x100000001b3u;
  }
  CHECK(counter > 0 && length > 0);
  printf("counter %ld length %d order %016llx\n", counter, length, (unsigned long long)order);
  return 0;
}
